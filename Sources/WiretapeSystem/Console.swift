internal import WiretapeBytes

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: bytes are lent to `write` for the call.

/// Standard output and standard error of this process, unbuffered. Text that came from outside may be part of anything that
/// is written here, so no text reaches a terminal as it came: ``TerminalText`` says what is made of it.
package enum Console: Int32, Sendable {
    case output = 1
    case error = 2

    /// Why standard output could not be written, in the system's words. Nil if all of it was written, or if its reader closed the pipe.
    package static var outputFailure: String? { lostOutput.withLock { $0 } }
    private static let lostOutput = Gate<String?>(nil)

    /// Writes all of `text`, harmful characters as `\u{1b}`. Stops silently when nobody reads any more (a closed pipe), as
    /// tools do.
    package func write(_ text: String) { writeAsIs(TerminalText.lines(text)) }

    /// Writes all of `text`, which is JSON or lines of it: harmful characters in its strings as `\u001b`.
    package func writeJSON(_ text: String) { writeAsIs(TerminalText.json(text)) }

    /// Writes lines of JSON as they are, byte for byte, unless a person looks at them.
    package func writeTape(_ bytes: Span<UInt8>) {
        guard isTerminal else { return write(bytes) }
        var copy: [UInt8] = []
        copy.append(copying: bytes)
        writeJSON(String(decoding: copy, as: UTF8.self))
    }

    /// Writes `text` with its escape sequences. Nothing that came from outside may be part of it.
    package func writeAsIs(_ text: String) {
        let bytes = Array(text.utf8)
        write(bytes.span)
    }

    private func write(_ bytes: Span<UInt8>) {
        var done = 0
        while done < bytes.count {
            let n = unsafe bytes.withUnsafeBytes { all in
                guard let base = all.baseAddress else { return 0 }
                #if canImport(Darwin)
                    return unsafe Darwin.write(rawValue, base + done, all.count - done)
                #elseif canImport(Musl)
                    return unsafe Musl.write(rawValue, base + done, all.count - done)
                #else
                    return unsafe Glibc.write(rawValue, base + done, all.count - done)
                #endif
            }
            if n > 0 {
                done += n
            } else if errno == EAGAIN {
                // Someone else made the terminal or pipe non-blocking: we wait until it takes more.
                var room = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, 1000)
            } else if errno != EINTR {
                let error = FileError.last("write", "standard output")
                if self == .output, !error.isBrokenPipe { Console.lostOutput.update { $0 = $0 ?? error.reason } }
                return
            }
        }
    }

    /// Whether a person looks at it.
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Columns of the terminal, or nil when it is none or does not say.
    package var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
