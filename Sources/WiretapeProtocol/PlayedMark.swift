/// The words with which the tape of a run says which session of the tape that was played a connection carries from there on.
package struct PlayedMark: Hashable, Sendable {
    package var connection: UInt32
    /// Its number on the tape that is played, and the how manyth run of it.
    package var session: Int
    package var run: Int
    /// What `--on-reconnect` may leave out on it.
    package var policy: String?

    package init(connection: UInt32, session: Int, run: Int, policy: String? = nil) {
        self.connection = connection
        self.session = session
        self.run = run
        self.policy = policy
    }

    private static let words = "carries session"

    package var text: String {
        let under = policy.map { " under --on-reconnect \($0)" } ?? ""
        return "connection \(connection) \(PlayedMark.words) \(session) of the tape, run \(run)\(under)"
    }

    package init?(_ text: String) {
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 10 || parts.count == 13, parts[0] == "connection",
            parts[2...3].joined(separator: " ") == PlayedMark.words,
            parts[5...6].joined(separator: " ") == "of the", parts[7] == "tape,", parts[8] == "run",
            let connection = UInt32(parts[1]), let session = Int(parts[4]), let run = Int(parts[9])
        else { return nil }
        self.init(connection: connection, session: session, run: run, policy: parts.count == 13 ? parts[12] : nil)
    }

    /// The same without what another recording would call otherwise.
    package static func canonical(_ text: String) -> String {
        guard let mark = PlayedMark(text) else { return text }
        return String(mark.text.dropFirst("connection \(mark.connection) ".count))
    }
}
