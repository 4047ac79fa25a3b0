import Testing
import WiretapeCodecs
import WiretapeProtocol

/// What a tape tells of how its server answers close frames.
@Suite struct ClosingHandshakeTests {
    private func closings(_ lines: String...) throws -> [ClosingHandshake] {
        let opening = """
            {"tape":1}
            {"t":1,"c":1,"e":"open"}
            {"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/chat","headers":[["Upgrade","websocket"]]}
            {"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}
            {"t":4,"c":1,"e":"message","d":">","op":"text","text":"one"}
            """
        let sessions = try Reading(tape: ([opening] + lines).joined(separator: "\n")).sessions
        let session = try #require(sessions.first)
        #expect(sessions.count == 1 && session.entries.count == 1, "the handshake is no part of the script")
        return session.habits.closings.all
    }

    private let asked = #"{"t":5,"c":1,"e":"close","d":">","code":1000,"reason":"done"}"#
    private let frame = ClosingHandshake.Frame(code: 1000, reason: "done")

    @Test func aCloseFrameWithOrWithoutAReason() throws {
        #expect(
            try closings(asked, #"{"t":6,"c":1,"e":"close","d":"<","code":1000,"reason":"Normal Closure"}"#)
                == [ClosingHandshake(asked: frame, answer: .close(code: 1000, reason: "Normal Closure"))])
        #expect(
            try closings(
                asked, #"{"t":6,"c":1,"e":"close","d":"<"}"#, #"{"t":7,"c":1,"e":"gone","by":"server","how":"fin"}"#)
                == [ClosingHandshake(asked: frame, answer: .close(code: nil, reason: ""))])
    }

    @Test func anEndWithoutACloseFrame() throws {
        #expect(
            try closings(asked, #"{"t":6,"c":1,"e":"gone","by":"server","how":"fin"}"#)
                == [ClosingHandshake(asked: frame, answer: .disconnect)])
        #expect(
            try closings(asked, #"{"t":6,"c":1,"e":"gone","by":"server","how":"rst"}"#)
                == [ClosingHandshake(asked: frame, answer: .reset)])
    }

    /// A server that ends its side after the client has gone did not answer; neither does one whose recording was stopped.
    @Test func nothing() throws {
        let gone = #"{"t":6,"c":1,"e":"gone","by":"client","how":"fin"}"#
        #expect(try closings(asked, gone, #"{"t":7,"c":1,"e":"gone","by":"server","how":"fin"}"#) == [])
        #expect(try closings(asked, #"{"t":6,"c":1,"e":"gone","by":"proxy","how":"fin","why":"stopped"}"#) == [])
        #expect(try closings(gone, #"{"t":7,"c":1,"e":"gone","by":"server","how":"fin"}"#) == [])
        // A close frame that comes after the client's FIN is an answer all the same.
        #expect(try closings(asked, gone, #"{"t":7,"c":1,"e":"close","d":"<","code":1000}"#).count == 1)
    }
}
