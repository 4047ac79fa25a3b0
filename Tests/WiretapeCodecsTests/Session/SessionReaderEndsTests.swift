import Testing
import WiretapeCodecs
import WiretapeCore

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
        #expect(sessions.first?.entries.count == 2)
    }

    @Test func afterTheClientsEndTheServerGoesOn() throws {
        let sessions = try sessions(#"{"t":5,"c":1,"e":"gone","by":"client","how":"fin"}"#)
        #expect(sessions.count == 1)
        #expect((sessions.first?.entries.count ?? 0) >= 2)
    }
}
