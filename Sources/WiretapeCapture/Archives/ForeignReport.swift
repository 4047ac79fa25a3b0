package import WiretapePackets

/// What an import of another tool's file came to, for people.
package struct ForeignReport: Sendable {
    /// Entries that are on the tape.
    package var exchanges: UInt64 = 0
    /// Connections on it.
    package var connections: UInt64 = 0
    /// What the file does not say, or what of it is not on the tape, and how often: sentences without full stops.
    package var notes: [(text: String, count: UInt64)] = []
    /// What made the file, as it says itself.
    package var maker: String?
    /// Whether everything comes from what a wiretape put there.
    package var isRestored = false
    /// Servers by the names that they have on the tape.
    package var servers: [(name: String, url: String)] = []
    /// Why the file was not read to its end.
    package var fault: CaptureFault?

    package init() {}

    /// Different notes; more are counted with the last.
    private static let mostNotes = 64

    mutating func note(_ text: String) {
        if let at = notes.firstIndex(where: { $0.text == text }) {
            notes[at].count += 1
        } else if notes.count < ForeignReport.mostNotes {
            notes.append((text, 1))
        } else {
            notes[notes.count - 1].count += 1
        }
    }

    /// What the server is called on the tape: `main` is the first one that is met. A tape of very many servers is replayed as one.
    mutating func name(of url: String) -> String {
        if let known = servers.first(where: { $0.url == url }) { return known.name }
        guard servers.count < CaptureOutput.mostServers else { return "main" }
        let name = servers.isEmpty ? "main" : "server\(servers.count + 1)"
        servers.append((name, url))
        return name
    }
}
