#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The standard output and error of this process, without buffers. Errors of writing are dropped: a closed pipe is no reason
/// to end.
package enum StandardStreams {
    package static func writeOutput(_ text: String) { _ = write(Array(text.utf8), to: STDOUT_FILENO) }
    package static func writeError(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// All of `bytes` to stdout. False when the reader is gone.
    package static func writeOutput(_ bytes: [UInt8]) -> Bool { write(bytes, to: STDOUT_FILENO) }

    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Columns of the terminal behind stdout or stderr, nil when there is none.
    package static var terminalWidth: Int? {
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            var size = winsize()
            if unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        }
        return nil
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { all in
            var done = 0
            while done < all.count {
                #if canImport(Glibc)
                    let n = unsafe Glibc.write(descriptor, all.baseAddress! + done, all.count - done)
                #elseif canImport(Musl)
                    let n = unsafe Musl.write(descriptor, all.baseAddress! + done, all.count - done)
                #else
                    let n = unsafe Darwin.write(descriptor, all.baseAddress! + done, all.count - done)
                #endif
                if n > 0 { done += n }
                if n < 0, errno == EAGAIN {
                    // A terminal or pipe that someone else made non-blocking.
                    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    unsafe poll(&room, 1, 1000)
                } else if n < 0, errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
