internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeRedaction
package import WiretapeSystem
package import WiretapeTape
internal import WiretapeWire

/// Looks for secrets on a tape, in all places where ``TapeRedactor`` replaces them, and for what is as random as a key.
package struct TapeScan {
    /// A secret and where it stands.
    package struct Finding: Hashable, Sendable {
        package var line: Int
        /// 0 in the header and in comments.
        package var event: UInt64
        package var connection: UInt32
        /// `request`, `message` …
        package var kind: String
        package var secret: SecretFinding
    }

    /// - Parameters:
    ///   - tell: gets a sentence about what could not be looked at.
    ///   - take: gets the findings in the order of the tape.
    /// - Returns: how many events were looked at.
    package static func run(
        _ path: String, _ rules: RedactionRules, longestLine: Int = TapeReader.longestLine,
        in files: any FileSystem = SystemFiles(), tell unseen: @escaping (String) -> Void = { _ in },
        _ take: (Finding) -> Void
    ) throws(TapeError) -> UInt64 {
        var reader = try TapeLineReader(path: path, longestLine: longestLine, in: files)
        let redaction = TapeRedaction(rules, keepsFindings: true, leavesOut: false, tell: unseen)
        var redactor = TapeRedactor(redaction)
        var last: (line: Int, number: UInt64, connection: UInt32, kind: String) = (0, 0, 0, "")
        func tell() {
            for secret in redaction.takeFindings() {
                take(
                    Finding(
                        line: last.line, event: last.number, connection: last.connection, kind: last.kind,
                        secret: secret))
            }
        }
        var events: UInt64 = 0
        while let line = try reader.next() {
            last = (line.line, line.event == nil ? 0 : line.number, line.event?.connection ?? 0, kind(of: line))
            if line.event != nil { events += 1 }
            _ = redactor.change(line)
            tell()
        }
        _ = redactor.rest()
        tell()
        return events
    }

    private static func kind(of line: TapeLine) -> String {
        switch line.what {
        case .header: "header"
        case .comment: "comment"
        case .bad, .event:
            (try? JSONValue(parsing: line.bytes))?["e"]?.string ?? "message"
        }
    }
}
