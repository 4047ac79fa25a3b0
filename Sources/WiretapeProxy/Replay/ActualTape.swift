package import WiretapeProtocol
package import WiretapeReplay
internal import WiretapeSystem
internal import WiretapeTape

/// The tape of a replay itself: what really passed between the client and us. Plain lines; gathered and written in
/// pieces of 64 KiB.
package final class ActualTape {
    private let file: File
    private var packer = MemberPacker()
    private var lines: [UInt8] = []
    private var failure: (any Error)?

    /// - Parameters:
    ///   - path: a file there is written over.
    ///   - tape: the name of the tape that is played.
    ///   - tool: what plays it, for the header.
    /// - Throws: when the file cannot be made.
    package init(path: String, of tape: String, _ upstreams: Upstreams, tool: String) throws {
        file = try File.creating(path, overwrite: true)
        let names = upstreams.isForward ? [] : upstreams.names.isEmpty ? ["main"] : upstreams.names
        packer.appendHeader(
            TapeHeader(
                started: SystemClock.rfc3339(SystemClock.wall), tool: tool,
                mode: upstreams.isForward ? "forward" : "reverse",
                upstreams: names.map { ($0, "replay:\(tape)") }, redaction: "default"))
        packer.redaction = TapeRedaction()
    }

    package func append(_ event: TapeEvent) {
        packer.append(event)
        while packer.takePlain(into: &lines) {}
        if lines.count >= 64 << 10 { flush() }
    }

    /// Ends the tape.
    /// - Throws: the first failure to write; nothing was written behind it.
    package func finish() throws {
        packer.stop(level: nil)
        while packer.takePlain(into: &lines) {}
        flush()
        if let failure { throw failure }
    }

    private func flush() {
        guard failure == nil else { return lines.removeAll() }
        do {
            let lines = lines
            try file.write(lines.span)
        } catch {
            failure = error
        }
        lines.removeAll(keepingCapacity: true)
    }
}
