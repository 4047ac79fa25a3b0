import Testing
import WiretapeCodecs
import WiretapeProtocol

/// What comes behind the end of a connection is no session of its own.
@Suite struct SessionReaderEndsTests {
    private func sessions(_ end: String) throws -> [RecordedSession] {
        try Reading(
            tape: """
                {"tape":1}
                {"t":1,"c":1,"e":"open"}
                {"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/chat","headers":[["Upgrade","websocket"]]}
                {"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}
                {"t":4,"c":1,"e":"message","d":">","op":"text","text":"one"}
                \(end)
                {"t":6,"c":1,"e":"message","d":"<","op":"text","text":"late"}
                {"t":7,"c":1,"e":"message","d":">","op":"text","text":"later"}
                {"t":8,"c":1,"e":"gone","by":"client","how":"fin"}
                {"t":9,"c":1,"e":"gone","by":"server","how":"fin"}
                """
        ).sessions
    }

    @Test func afterTheRecordingWasStopped() throws {
        let sessions = try sessions(#"{"t":5,"c":1,"e":"gone","by":"proxy","how":"fin","why":"stopped"}"#)
        #expect(sessions.count == 1)
        #expect(sessions.first?.entries.count == 1)
    }

    @Test func afterTheServersEnd() throws {
        let sessions = try sessions(#"{"t":5,"c":1,"e":"gone","by":"server","how":"fin"}"#)
        #expect(sessions.count == 1)
        // A message of the client may have crossed the end.
        #expect(sessions.first?.entries.map(\.isCrossing) == [false, false, true])
        #expect(sessions.first?.gates.map(\.line) == [5])
    }

    @Test func afterTheClientsEndTheServerGoesOn() throws {
        let sessions = try sessions(#"{"t":5,"c":1,"e":"gone","by":"client","how":"fin"}"#)
        #expect(sessions.count == 1)
        #expect((sessions.first?.entries.count ?? 0) >= 2)
    }
    /// A WebSocket on which nothing was said is a session where no protocol asks for words: each connection of a replay
    /// gets its own.
    @Test(arguments: [
        (#"{"t":5,"c":1,"e":"close","d":">","code":1000}"#, "/", "", 1),
        (#"{"t":5,"c":1,"e":"gone","by":"client","how":"rst"}"#, "/", "", 1),
        (#"{"t":5,"c":1,"e":"close","d":">","code":1000}"#, "/chat?id=x", "", 0),
        (#"{"t":5,"c":1,"e":"close","d":">","code":1000}"#, "/", "graphql-transport-ws", 0),
    ])
    func wordless(_ end: String, _ target: String, _ subprotocol: String, _ count: Int) throws {
        let named = subprotocol.isEmpty ? "" : #",["Sec-WebSocket-Protocol","\#(subprotocol)"]"#
        let sessions = try Reading(
            tape: """
                {"tape":1}
                {"t":1,"c":1,"e":"open"}
                {"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"\(target)","headers":[["Upgrade","websocket"]\(named)]}
                {"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]\(named)]}
                {"t":4,"c":1,"e":"ping","d":">","text":"a"}
                \(end)
                {"t":6,"c":1,"e":"gone","by":"client","how":"fin"}
                {"t":7,"c":1,"e":"gone","by":"server","how":"fin"}
                """
        ).sessions
        #expect(sessions.count == count && sessions.allSatisfy { $0.codec.id == "raw" && $0.connections == [1] })
    }
}
