#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A call of the system that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried: `open`, `write`, `rename` …
    package var call: String
    /// The file it was tried on, or nil.
    package var path: String?
    /// `errno`, positive.
    package var code: Int32

    package init(_ call: String, path: String? = nil, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// The call that has just failed: takes `errno`.
    static func last(_ call: String, path: String? = nil) -> SystemError {
        SystemError(call, path: path, code: errno)
    }

    /// The system's words: `No space left on device`.
    package var reason: String {
        var text = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The disk or the quota is used up.
    package var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// There is no such file or folder.
    package var isNotFound: Bool { code == ENOENT }
    /// A file that must be new is there already.
    package var isExisting: Bool { code == EEXIST }

    package var description: String {
        if let path { "\(call) \(path): \(reason)" } else { "\(call): \(reason)" }
    }
}
