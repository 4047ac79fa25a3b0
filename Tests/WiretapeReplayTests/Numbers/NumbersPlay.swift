import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// A client that says what is recorded, one thing after the other, and does not mind what it hears.
struct NumbersPlay {
    let play: Playbook

    init(_ reading: CodedTape.Reading, faults: [String] = [], _ change: (inout ReplayOptions) -> Void = { _ in }) throws
    {
        play = try Playbook(reading.sessions, exchanges: reading.exchanges, faults: faults) { options in
            options.onDivergence = .warn
            change(&options)
        }
    }

    /// Where the session's connection is opened, with the token that the replay has given for the recorded one.
    func connect(_ session: RecordedSession, _ change: (inout RequestHead) -> Void = { _ in }) -> ConnectionID {
        var head = session.opening.request
        if let asked = session.negotiate?.request {
            var asked = asked
            change(&asked)
            let c = play.request(asked.method, asked.target, asked.headers)
            if let token = (play.answers[c].flatMap { try? JSONValue(parsing: $0.body) })?["connectionToken"]?.string,
                let recorded = session.serverIDs?.token
            {
                head.target = head.target.replacing(recorded, with: token)
            }
        }
        change(&head)
        return play.request(head.method, head.target, head.headers, body: session.opening.requestBody)
    }

    /// - Parameter change: what is said instead of a recorded message.
    func say(_ session: RecordedSession, on c: ConnectionID, _ change: (Message) -> [UInt8]? = { _ in nil }) {
        for entry in session.entries {
            guard case .message(let message) = entry.what, message.direction == .toServer else { continue }
            let bytes = change(message) ?? message.bytes
            if session.transport == .ws {
                play.sendBytes(c, message.opcode, bytes)
            } else {
                _ = play.request("POST", session.opening.request.target, session.opening.request.headers, body: bytes)
            }
            play.pass(ms: 1)
        }
    }

    /// All of it, and what time brings; the report in all its forms.
    func playAll(_ sessions: [RecordedSession]) {
        for session in sessions {
            let c = connect(session)
            say(session, on: c)
            play.pass(ms: 100_000)
            play.close(c, .rst("reset"))
            say(session, on: connect(session))
        }
        play.pass(ms: 100_000)
        let report = play.finish()
        #expect(!report.text.isEmpty && !report.json.text.isEmpty && !report.junit(suite: "numbers").isEmpty)
    }
}
