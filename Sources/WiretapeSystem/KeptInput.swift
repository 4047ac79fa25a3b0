#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: the name is lent to the system for the call.

/// What comes over standard input, for whoever reads it more than once. It is in a file that has no name any more, so that nothing stays
/// behind however this process ends.
package enum KeptInput {
    /// Reads standard input to its end.
    /// - Parameter folder: where the bytes are kept.
    /// - Returns: a path at which they can be read as often as wanted, by this process, until it ends.
    package static func path(in folder: String) throws(FileError) -> String {
        #if os(Linux)
            let own = try File.makeTemporaryFolder(in: folder, "wiretape-input")
            defer { try? File.removeFolder(own) }
            let name = "\(own)/input"
            let kept = try File.creating(name, overwrite: false)
            let reading = unsafe open(name, O_RDONLY | O_CLOEXEC)
            let failed: FileError? = reading < 0 ? FileError.last("open", name) : nil
            try SystemFiles().remove(name)
            if let failed { throw failed }
            let input = try File.reading("/dev/stdin")
            var piece: [UInt8] = []
            var at: UInt64 = 0
            while try input.read(at: at, limit: 1 << 20, into: &piece) > 0 {
                try kept.write(piece.span)
                at += UInt64(piece.count)
                piece.removeAll(keepingCapacity: true)
            }
            // The descriptor stays open until the process ends.
            return "/proc/self/fd/\(reading)"
        #else
            throw FileError(
                "read", "-", code: ENOTSUP, reason: "is read more than once, which needs a file on this system")
        #endif
    }
}
