#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: the buffer is a local, lent for the call.

/// A call of the system that failed, other than one on a file: see ``FileError``.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried: `start a thread` …
    package var call: String
    /// `errno`, positive.
    package var code: Int32

    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The system's words: `Resource temporarily unavailable`.
    package var reason: String { systemMessage(code) }

    package var description: String { "\(call): \(reason)" }
}

/// The C library's words for an error number. Safe on any thread.
func systemMessage(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
