#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A call on a file that failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried: `open`, `read`, `write` …
    package var call: String
    package var path: String
    /// The system's error number.
    package var code: Int32
    /// The system's words for it: `No space left on device`.
    package var reason: String

    /// Whether the reader closed the pipe.
    package var isBrokenPipe: Bool { code == EPIPE }

    package init(_ call: String, _ path: String, code: Int32, reason: String) {
        self.call = call
        self.path = path
        self.code = code
        self.reason = reason
    }

    /// The disk, the quota or the largest size that a file may have (`ulimit -f`) is used up.
    package var isNoSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
    /// There is no such file or folder.
    package var isNotFound: Bool { code == ENOENT }
    /// A file that must be new is there already.
    package var isExisting: Bool { code == EEXIST }

    /// Another process has it locked.
    package var isLocked: Bool { call == "lock" && code == EWOULDBLOCK }

    package var description: String { "\(path): \(reason)" }
}
