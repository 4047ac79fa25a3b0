import Testing
import WiretapeAttempts
import WiretapeCodecs
import WiretapeProtocol
import WiretapeReport
import WiretapeWire

/// Recorded WebSockets on which nothing was said.
@Suite struct WordlessTests {
    /// Each is played once, to one connection, in the order of the tape; a fourth client gets none.
    @Test func eachConnectionGetsItsOwn() throws {
        var reader = SessionReader(codecs: Codecs.all)
        var messages: [DecodedMessage] = []
        var number: UInt64 = 0
        let upgrade = HeaderField("Upgrade", "websocket")
        for connection in UInt32(1)...3 {
            let opening: [TapeEvent.Kind] = [
                .request(x: 1, RequestHead(method: "GET", target: "/echo", headers: [upgrade]), .none),
                .response(
                    x: 1, ResponseHead(status: 101, headers: [upgrade]), .none, interim: false, coding: nil,
                    proxy: false),
                .close(.toServer, code: 1000, reason: nil), .gone(by: .client, how: .fin, why: nil),
                .gone(by: .server, how: .fin, why: nil),
            ]
            for kind in opening {
                number += 1
                reader.read(
                    TapeEvent(time: number * 1_000_000, connection: connection, kind), number: number, into: &messages)
            }
        }
        let play = try Playbook(reader.finish())
        for _ in 1...3 {
            let c = play.upgrade(nil, "/echo")
            #expect(play.take(c) == ["101"])
            play.close(c, .closeFrame(code: 1000, reason: ""))
        }
        #expect(play.take(play.upgrade(nil, "/echo")) != ["101"])
        let sessions = play.finish().sessions
        #expect(sessions.count == 3 && sessions.allSatisfy(\.finished))
        #expect(sessions.map { $0.attempts.count { $0.outcome == .connected } } == [1, 1, 1])
    }
}
