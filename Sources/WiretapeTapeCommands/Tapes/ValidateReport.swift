internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTapeTools
internal import WiretapeWire

/// What `validate` prints, for people and editors or as JSON lines.
struct ValidateReport {
    var isJSON: Bool

    /// Prints the findings and takes them away.
    func tell(_ findings: inout [TapeFinding], _ path: String) {
        for finding in findings { isJSON ? json(finding, path) : text(finding, path) }
        findings.removeAll(keepingCapacity: true)
    }

    func tell(_ summary: TapeSummary, _ path: String) { isJSON ? json(summary, path) : text(summary, path) }

    private func text(_ finding: TapeFinding, _ path: String) {
        var place = path
        if finding.line > 0 { place += ":\(finding.line)" }
        if let column = finding.column { place += ":\(column)" }
        tellLine("\(place): \(finding.severity.rawValue): \(finding.message)")
    }

    private func text(_ summary: TapeSummary, _ path: String) {
        var parts = [Self.count(summary.events, "event")]
        if summary.connections > 0 { parts.append(Self.count(UInt64(summary.connections), "connection")) }
        parts.append(Self.count(UInt64(summary.sessions.count), "session"))
        if summary.exchanges > 0 { parts.append(Self.count(UInt64(summary.exchanges), "HTTP exchange")) }
        if summary.comments > 0 { parts.append(Self.count(UInt64(summary.comments), "comment line")) }
        parts.append(
            summary.isSparse ? "sparse" : summary.isTruncated ? "cut off" : summary.isStopped ? "whole" : "not ended")
        tellLine("\(path): \(parts.joined(separator: ", "))")
        let unknown =
            summary.unknownKinds.map { "kind \"\($0.name)\" (\($0.count))" }
            + summary.unknownKeys.map { "key \"\($0.name)\" (\($0.count))" }
        if !unknown.isEmpty { tellLine("  unknown to this version: \(unknown.joined(separator: ", "))") }
        for session in summary.sessions {
            var text = "  session \(session.number)"
            if let name = session.name { text += " '\(name)'" }
            text += "  \(session.codec) over \(session.transport.rawValue), \(session.route), "
            text += Self.count(UInt64(session.messages), "message")
            if session.opaque > 0 { text += ", \(session.opaque) of them unreadable" }
            text += session.obstacle.map { "; cannot be replayed: it \($0)" } ?? ", can be replayed"
            tellLine(text)
        }
        for failed in summary.failedExchanges {
            tellLine("  \(path):\(failed.line): \(failed.text). A replay does the same.")
        }
    }

    private func json(_ finding: TapeFinding, _ path: String) {
        write([
            .init("event", .string("finding")), .init("file", .string(path)),
            .init("severity", .string(finding.severity.rawValue)), .init("line", .number(finding.line)),
            .init("column", finding.column.map { .number($0) } ?? .null), .init("message", .string(finding.message)),
        ])
    }

    private func json(_ summary: TapeSummary, _ path: String) {
        for session in summary.sessions {
            write([
                .init("event", .string("session")), .init("file", .string(path)),
                .init("session", .number(session.number)), .init("name", session.name.map(JSONValue.string) ?? .null),
                .init("protocol", .string(session.codec)), .init("transport", .string(session.transport.rawValue)),
                .init("route", .string(session.route)), .init("messages", .number(session.messages)),
                .init("opaque", .number(session.opaque)), .init("replayable", .bool(session.obstacle == nil)),
                .init("obstacle", session.obstacle.map(JSONValue.string) ?? .null),
            ])
        }
        func counts(_ list: [TapeSummary.Count]) -> JSONValue {
            .object(list.map { .init($0.name, .number($0.count)) })
        }
        write([
            .init("event", .string("tape")), .init("file", .string(path)), .init("events", .number(summary.events)),
            .init("connections", .number(summary.connections)), .init("sessions", .number(summary.sessions.count)),
            .init("exchanges", .number(summary.exchanges)),
            .init("failedExchanges", .number(summary.failedExchanges.count)),
            .init("comments", .number(summary.comments)),
            .init("sparse", .bool(summary.isSparse)), .init("stopped", .bool(summary.isStopped)),
            .init("truncated", .bool(summary.isTruncated)), .init("errors", .number(summary.errors)),
            .init("warnings", .number(summary.warnings)), .init("unknownKinds", counts(summary.unknownKinds)),
            .init("unknownKeys", counts(summary.unknownKeys)),
        ])
    }

    private func tellLine(_ text: String) { Console.output.write(Summary.part(text) + "\n") }

    private func write(_ members: [JSONValue.Member]) {
        Console.output.writeJSON(JSONValue.object(members).text + "\n")
    }

    private static func count(_ n: UInt64, _ noun: String) -> String { "\(n) \(noun)\(n == 1 ? "" : "s")" }
}
