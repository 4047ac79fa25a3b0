import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What a client sends with or behind bytes that end its WebSocket is no part of the conversation: the server did not read it,
/// and a replay, which ends such a connection as well, would wait for it in vain.
@Suite struct BrokenRulesTests {
    private func session(_ lines: [String]) throws -> RecordedSession {
        let opening = """
            {"tape":1}
            {"t":1,"c":1,"e":"open"}
            {"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/echo","headers":[["Upgrade","websocket"]]}
            {"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}
            """
        let sessions = try Reading(tape: ([opening] + lines).joined(separator: "\n")).sessions
        #expect(sessions.count == 1)
        return try #require(sessions.first)
    }

    /// `> one`, `< close 1002`.
    private func said(_ lines: [String]) throws -> [String] {
        try session(lines).entries.map { entry in
            switch entry.what {
            case .message(let message): "\(message.direction.mark) \(String(decoding: message.bytes, as: UTF8.self))"
            case .ending(.close(let code, _)): "< close \(code ?? 0)"
            case .ending(.disconnect): "< FIN"
            case .ending(.reset): "< RST"
            }
        }
    }

    private let one = #"{"t":4,"c":1,"e":"message","d":">","op":"text","text":"one"}"#
    private let two = #"{"t":7,"c":1,"e":"message","d":">","op":"text","text":"two"}"#
    private let echo = #"{"t":8,"c":1,"e":"message","d":"<","op":"text","text":"one"}"#
    private let refused = #"{"t":9,"c":1,"e":"close","d":"<","code":1002,"reason":"no"}"#

    /// Autobahn's case 7.1.5: the rest of a fragmented message comes behind the close frame.
    @Test func behindTheClientsCloseFrame() throws {
        let close = #"{"t":5,"c":1,"e":"close","d":">","code":1000}"#
        #expect(try said([one, close, two, echo, refused]) == ["> one"])
        #expect(try said([close, two, refused]) == [])
        #expect(try session([close, two, refused]).habits.closings.all.count == 1)
    }

    /// The server's ending is its answer to that, and no part of the script: it would come before a client has done anything.
    @Test(arguments: [
        #"{"t":5,"c":1,"e":"frame","d":">","head":128,"text":"x","why":"continuation of nothing"}"#,
        #"{"t":5,"c":1,"e":"message","d":">","op":"text","b64":"/w=="}"#,
        #"{"t":5,"c":1,"e":"part","d":">","op":"text","n":0,"text":"cut","last":false}"#,
    ])
    func behindWhatBreaksTheRules(_ broken: String) throws {
        #expect(try said([one, broken, two, echo, refused]) == ["> one", "< one"])
        #expect(try said([broken, two, refused]) == [])
    }

    /// A message in several pieces, and one behind it.
    @Test func wholePiecesBreakNothing() throws {
        let pieces = [
            #"{"t":5,"c":1,"e":"part","d":">","op":"text","n":0,"text":"a","last":false}"#,
            #"{"t":6,"c":1,"e":"part","d":">","op":"text","n":1,"text":"b","last":true}"#,
        ]
        #expect(try said(pieces + [two, echo]) == ["> ab", "> two", "< one"])
        let binary = #"{"t":5,"c":1,"e":"message","d":">","op":"binary","b64":"/w=="}"#
        #expect(try said([binary, two]).last == "> two")
    }

    /// The server's own frames say nothing about the client's; events that are missing may have had the end of a message.
    @Test func whatBreaksNothing() throws {
        let frame = #"{"t":5,"c":1,"e":"frame","d":"<","head":128,"text":"x","why":"continuation of nothing"}"#
        #expect(try said([frame, two, echo]) == ["> two", "< one"])
        let cut = #"{"t":5,"c":1,"e":"part","d":">","op":"text","n":0,"text":"cut","last":false}"#
        #expect(try said([cut, #"{"t":6,"e":"gap","lost":1}"#, two, echo]) == ["> two", "< one"])
    }

    /// A session of which nothing else is left is one all the same: whose client broke the rules with its first message.
    @Test func eachConnectionHasItsSession() throws {
        let broken = #"{"t":5,"c":1,"e":"message","d":">","op":"text","b64":"/w=="}"#
        let session = try session([broken, #"{"t":6,"c":1,"e":"gone","by":"client","how":"rst"}"#])
        #expect(session.entries.isEmpty && session.connections == [1])
    }
}
