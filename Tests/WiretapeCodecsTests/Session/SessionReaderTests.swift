import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Events made by hand: what a tape can hold in the way of openings, endings and cuts.
@Suite struct SessionReaderTests {
    private static let upgradeHeaders = [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")]
    private static let handshake = "{\"protocol\":\"json\",\"version\":1}\u{1e}"

    private func event(_ c: UInt32, _ kind: TapeEvent.Kind, at time: UInt64 = 0) -> TapeEvent {
        TapeEvent(time: time, connection: c, kind)
    }

    private func upgraded(_ c: UInt32, _ target: String) -> [TapeEvent] {
        [
            event(c, .open(.init())),
            event(
                c,
                .request(
                    x: 1, RequestHead(method: "GET", target: target, headers: Self.upgradeHeaders), .none)),
            event(
                c,
                .response(
                    x: 1, ResponseHead(status: 101, headers: Self.upgradeHeaders), .none, interim: false, coding: nil,
                    proxy: false)),
        ]
    }

    private func exchange(
        _ c: UInt32, _ x: UInt32, _ method: String, _ target: String, _ headers: [HeaderField] = [],
        status: Int = 200, _ body: TapeEvent.Body = .none
    ) -> [TapeEvent] {
        [
            event(c, .request(x: x, RequestHead(method: method, target: target, headers: headers), .none)),
            event(
                c, .response(x: x, ResponseHead(status: status), body, interim: false, coding: nil, proxy: false)),
        ]
    }

    private func text(_ c: UInt32, _ direction: Direction, _ text: String) -> TapeEvent {
        event(c, .message(direction, .text, Array(text.utf8), deflated: false, fragments: []))
    }

    private func negotiation(_ token: String) -> [UInt8] {
        Array(#"{"negotiateVersion":1,"connectionId":"i\#(token)","connectionToken":"\#(token)"}"#.utf8)
    }

    @Test func negotiationsMayBeStreamed() {
        let body = negotiation("tok")
        var events = exchange(1, 1, "POST", "/chat/negotiate?negotiateVersion=1", .streamed)
        events += body.map { event(1, .chunk(x: 1, .toClient, [$0])) }
        events += [event(1, .end(x: 1, .toClient, trailers: []))]
        events += upgraded(2, "/chat?id=tok") + [text(2, .toServer, Self.handshake)]
        let session = Reading(Codecs.all, events).sessions[0]
        #expect(session.serverIDs == ServerIDs(connectionID: "itok", token: "tok"))
        #expect(session.negotiate?.responseBody == body)
    }

    private func exchange(
        _ c: UInt32, _ x: UInt32, _ method: String, _ target: String, _ body: TapeEvent.Body
    ) -> [TapeEvent] { exchange(c, x, method, target, [], body) }

    @Test func interleavedSessionsKeepApart() {
        var events = exchange(1, 1, "POST", "/chat/negotiate", .whole(negotiation("a")))
        events += exchange(1, 2, "POST", "/chat/negotiate", .whole(negotiation("b")))
        events += upgraded(2, "/chat?id=b") + upgraded(3, "/chat?id=a") + upgraded(4, "/echo")
        events += [text(3, .toServer, Self.handshake), text(2, .toServer, Self.handshake), text(4, .toServer, "hi")]
        events += [text(2, .toClient, "{}\u{1e}"), text(4, .toClient, "hi back"), text(3, .toClient, "{}\u{1e}")]
        let sessions = Reading(Codecs.all, events).sessions
        #expect(sessions.map(\.serverIDs?.token) == ["a", "b", nil])
        #expect(sessions.map(\.codec.id) == ["signalr", "signalr", "raw"])
        #expect(sessions.map(\.route) == ["/chat", "/chat", "/echo"])
        #expect(sessions[2].lines == ["> hi", "< hi back"])
    }

    @Test func aNegotiationBehindItsStreamIsFound() {
        var events = upgraded(2, "/chat?id=tok") + [text(2, .toServer, Self.handshake)]
        events += exchange(1, 1, "POST", "/chat/negotiate", .whole(negotiation("tok")))
        let session = Reading(Codecs.all, events).sessions[0]
        #expect(session.serverIDs?.connectionID == "itok")
        #expect(session.negotiate != nil)
    }

    @Test func aSecondHandshakeWithTheSameTokenIsANewSession() {
        var events = upgraded(1, "/chat?id=tok") + [text(1, .toServer, Self.handshake)]
        events += [event(1, .gone(by: .server, how: .rst, why: nil))]
        events += upgraded(2, "/chat?id=tok") + [text(2, .toServer, Self.handshake)]
        let sessions = Reading(Codecs.all, events).sessions
        #expect(sessions.map(\.connections) == [[1], [2]])
        #expect(sessions[0].lines == ["> Handshake json 1", "< reset"])
    }

    @Test(arguments: [
        ([TapeEvent.Kind.close(.toClient, code: 1001, reason: "bye")], ["< close 1001bye"]),
        ([.close(.toClient, code: nil, reason: nil), .close(.toServer, code: nil, reason: nil)], ["< close "]),
        ([.close(.toServer, code: 1000, reason: nil), .close(.toClient, code: 1000, reason: nil)], []),
        ([.close(.toClient, code: 1000, reason: nil), .gone(by: .server, how: .rst, why: nil)], ["< close 1000"]),
        ([.gone(by: .server, how: .fin, why: nil)], ["< disconnect"]),
        ([.gone(by: .server, how: .rst, why: nil)], ["< reset"]),
        ([.gone(by: .server, how: .error, why: "x")], ["< reset"]),
        ([.gone(by: .client, how: .fin, why: nil), .gone(by: .server, how: .fin, why: nil)], []),
        ([.gone(by: .client, how: .rst, why: nil)], []), ([.gone(by: .proxy, how: .rst, why: nil)], []),
    ])
    func endings(_ kinds: [TapeEvent.Kind], _ lines: [String]) {
        let events = upgraded(1, "/x") + [text(1, .toServer, "a")] + kinds.map { event(1, $0) }
        let sessions = Reading(Codecs.all, events).sessions
        #expect(sessions[0].lines == ["> a"] + lines)
        #expect(sessions.count == 1)
    }

    @Test func aServerGoesOnAfterAFinOfTheClient() {
        let events =
            upgraded(1, "/x") + [text(1, .toServer, "a"), event(1, .gone(by: .client, how: .fin, why: nil))]
            + [text(1, .toClient, "b")]
        #expect(Reading(Codecs.all, events).sessions[0].lines == ["> a", "< b"])
    }

    @Test func whatComesBehindTheEndOfAConnectionBeginsNoSession() {
        let fin = Reading(
            Codecs.all,
            upgraded(1, "/x") + [
                text(1, .toServer, "a"), event(1, .gone(by: .server, how: .fin, why: nil)), text(1, .toServer, "b"),
                event(1, .gone(by: .client, how: .fin, why: nil)), text(1, .toServer, "c"),
            ])
        #expect(fin.sessions.map(\.lines) == [["> a", "< disconnect", "> b"]])
        #expect(fin.messages.map(\.message.summary) == ["a", "b"])
        let reset = Reading(
            Codecs.all,
            upgraded(1, "/x") + [
                text(1, .toServer, "a"), event(1, .gone(by: .client, how: .rst, why: nil)), text(1, .toClient, "b"),
                event(1, .gone(by: .server, how: .rst, why: nil)),
            ])
        #expect(reset.sessions.map(\.lines) == [["> a"]])
        #expect(reset.messages.count == 1)
    }

    @Test func messagesMayCrossTheServersEnd() {
        let events =
            upgraded(1, "/x") + [text(1, .toServer, "a"), event(1, .close(.toServer, code: 1000, reason: nil))]
            + [text(1, .toClient, "b")] + upgraded(2, "/x") + [text(2, .toServer, "c")]
            + [event(2, .close(.toClient, code: 1000, reason: nil)), text(2, .toServer, "d")]
        let reading = Reading(Codecs.all, events)
        #expect(reading.sessions.map(\.lines) == [["> a"], ["> c", "< close 1000", "> d"]])
        #expect(reading.sessions.map { $0.entries.map(\.isCrossing) } == [[false], [false, false, true]])
        #expect(reading.messages.map(\.message.summary) == ["a", "b", "c", "d"])
    }

    @Test func piecesAreAssembledAndCutMessagesLeftOut() {
        func part(_ n: Int, _ text: String, last: Bool = false, _ direction: Direction = .toServer) -> TapeEvent {
            event(1, .part(direction, .text, n: n, Array(text.utf8), last: last))
        }
        let events =
            upgraded(1, "/x") + [
                part(0, "he"), part(0, "sr", .toClient), part(1, "l"), part(1, "v", last: true, .toClient),
                part(2, "lo", last: true),
                part(0, "missing"), part(2, "piece", last: true), part(7, "lost", last: true),
                part(0, "cut"), event(1, .gone(by: .client, how: .rst, why: nil)),
            ]
        let reading = Reading(Codecs.all, events)
        #expect(reading.sessions[0].lines == ["< srv", "> hello"])
        #expect(reading.messages.map(\.event) == [7, 8])
        #expect(reading.sessions[0].entries.map(\.frame) == [1, 2])
    }

    @Test func aServerThatSpeaksFirstIsRaw() {
        let events = upgraded(1, "/x?id=0123456789") + [text(1, .toClient, #"{"event":"hello"}"#)]
        let session = Reading(Codecs.all, events).sessions[0]
        #expect(session.codec.id == "raw")
        #expect(session.serverIDs == nil)
    }

    @Test func upgradesThatNameAnUnknownTokenAreNoSessions() {
        let events = exchange(1, 1, "GET", "/chat?id=tok", Self.upgradeHeaders, status: 404)
        #expect(Reading(Codecs.all, events).sessions.isEmpty)
    }

    @Test func aLaterTakeStartsAgain() {
        var events =
            upgraded(1, "/x") + [event(1, .message(.toServer, .text, [97], deflated: false, fragments: []), at: 50)]
        events += [event(0, .take(started: "2026-11-20T00:00:00Z"))]
        events +=
            upgraded(1, "/y") + [event(1, .message(.toServer, .text, [98], deflated: false, fragments: []), at: 7)]
        let sessions = Reading(Codecs.all, events).sessions
        #expect(sessions.map(\.route) == ["/x", "/y"])
        #expect(sessions.flatMap(\.entries).map(\.time) == [50, 57])
    }

    @Test func memoryBesideTheScriptIsBounded() {
        var reading = Reading(Codecs.all)
        for n in 1...9_000 {
            for one in exchange(1, UInt32(n), "POST", "/chat/negotiate", .whole(negotiation("t\(n)"))) {
                reading.read(one)
            }
        }
        // Requests without answers, on a connection that stays.
        for n in 1...3_000 {
            reading.read(event(2, .request(x: UInt32(n), RequestHead(method: "GET", target: "/"), .none)))
        }
        for one in upgraded(3, "/chat?id=t1") + [text(3, .toServer, Self.handshake)] { reading.read(one) }
        for one in upgraded(4, "/chat?id=t9000") + [text(4, .toServer, Self.handshake)] { reading.read(one) }
        #expect(reading.sessions.map { $0.negotiate != nil } == [false, true])
    }

    @Test func eventsWithoutOpeningAreRead() {
        let session = Reading(Codecs.all, [text(9, .toServer, Self.handshake)]).sessions[0]
        #expect(session.codec.id == "signalr" && session.connections == [9])
    }

    @Test func givenNamesStay() {
        var events = upgraded(1, "/x") + [text(1, .toServer, "a")]
        events[0] = event(1, .open(.init(session: "alice")))
        #expect(Reading(Codecs.all, events).sessions[0].name == "alice")
    }
}
