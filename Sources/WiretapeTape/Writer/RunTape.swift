package import WiretapeProtocol
package import WiretapeRedaction
internal import WiretapeSystem

/// The tape of a run itself: what really passed between the client and us. Plain lines; gathered and written in
/// pieces of 64 KiB.
package final class RunTape {
    private let file: File
    private var packer = MemberPacker()
    private var lines: [UInt8] = []
    private var failure: (any Error)?

    /// - Parameters:
    ///   - path: a file there is written over.
    ///   - header: its redaction must be `default`, for what is written is redacted.
    ///   - rules: what is a secret.
    /// - Throws: when the file cannot be made.
    package init(path: String, _ header: TapeHeader, _ rules: RedactionRules = RedactionRules()) throws {
        file = try File.creating(path, overwrite: true)
        packer.appendHeader(header)
        packer.redaction = TapeRedaction(rules)
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
