internal import WiretapeBytes
internal import WiretapeSystem

/// A file that gets the secrets of every connection, in the format that Wireshark and browsers share (`SSLKEYLOGFILE`,
/// RFC 9850). Who has it can read what was said. May be used by all threads: each line is one write to the file's end.
package final class TLSKeyLog: Sendable {
    private let file: File

    /// - Throws: when the file cannot be opened. What is in it is kept.
    package init(path: String) throws(TLSError) {
        do {
            file = try File.appending(path)
        } catch {
            throw TLSError(.setup, "\(path): \(error.reason)")
        }
    }

    func write(_ line: String) { try? file.write(Array((line + "\n").utf8).span) }
}
