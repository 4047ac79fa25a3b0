import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct SignalROpeningTests {
    private static let v1 =
        #"{"negotiateVersion":1,"connectionId":"g3Xq0c2lJdYx8o1mVb5f5A","connectionToken":"Zb0m8n1J4sQ7tT2uY9wK3A","availableTransports":[{"transport":"WebSockets","transferFormats":["Text","Binary"]}]}"#

    private func request(_ method: String, _ target: String, _ headers: (String, String)...) -> RequestHead {
        RequestHead(method: method, target: target, headers: headers.map { HeaderField($0.0, $0.1) })
    }

    private func opening(_ head: RequestHead, answer: String = "", first: String = "") -> StreamOpening {
        StreamOpening(
            request: head, response: ResponseHead(status: 200), responseBody: Array(answer.utf8),
            firstPayload: Array(first.utf8))
    }

    @Test func negotiationsAreClaimedByPathAndBody() {
        let head = request("POST", "/chat/negotiate?negotiateVersion=1")
        #expect(SignalRCodec.claim(opening(head, answer: Self.v1)) == .certain)
        #expect(SignalRCodec.claim(opening(head, answer: #"{"error":"no"}"#)) == .likely)
        #expect(SignalRCodec.claim(opening(head, answer: "<html>")) == .likely)
        #expect(SignalRCodec.claim(opening(request("POST", "/deal/negotiate"), answer: "<html>")) == .possible)
        #expect(SignalRCodec.claim(opening(request("POST", "/chat"), answer: Self.v1)) == .no)
    }

    @Test func streamsAreClaimedByTheHandshake() {
        let upgrade = request("GET", "/chat?id=abc", ("Upgrade", "websocket"))
        let skipped = request("GET", "/chat", ("upgrade", "WebSocket"))
        let handshake = "{\"version\": 1, \"protocol\": \"json\"}\u{1e}{\"type\":6}\u{1e}"
        #expect(SignalRCodec.claim(opening(upgrade, first: handshake)) == .certain)
        #expect(SignalRCodec.claim(opening(skipped, first: handshake)) == .certain)
        #expect(SignalRCodec.claim(opening(upgrade, first: "{\"type\":9,\"sequenceId\":1}\u{1e}")) == .certain)
        #expect(SignalRCodec.claim(opening(skipped, first: "{\"type\":9,\"sequenceId\":1}\u{1e}")) == .no)
        #expect(SignalRCodec.claim(opening(upgrade, first: #"{"protocol":"json","version":1}"#)) == .no)
        #expect(SignalRCodec.claim(opening(upgrade, first: #"{"type":"connection_init"}"#)) == .no)
        #expect(RawCodec.claim(opening(upgrade, first: "x")) == .possible)
    }

    @Test func keysAndKinds() {
        #expect(
            SignalRCodec.sessionKey(opening(request("POST", "/chat/negotiate"), answer: Self.v1))
                == "Zb0m8n1J4sQ7tT2uY9wK3A")
        let v0 = #"{"negotiateVersion":0,"connectionId":"g3X","availableTransports":[]}"#
        #expect(SignalRCodec.sessionKey(opening(request("POST", "/chat/negotiate"), answer: v0)) == "g3X")
        let redirect = #"{"url":"https://svc/client/?hub=chat","accessToken":"t","availableTransports":[]}"#
        #expect(SignalRCodec.sessionKey(opening(request("POST", "/chat/negotiate"), answer: redirect)) == nil)

        let cases: [(RequestHead, ExchangeKind, String?)] = [
            (request("GET", "/chat?user=a&ID=t%2B1", ("Upgrade", "websocket")), .upgrade, "t+1"),
            (request("GET", "/chat?id=t&_=5"), .poll, "t"),
            (request("GET", "/chat?id=t", ("Accept", "text/event-stream")), .stream, "t"),
            (request("POST", "/chat?id=t"), .send, "t"), (request("DELETE", "/chat?id=t"), .end, "t"),
            (request("OPTIONS", "/chat/negotiate"), .preflight, nil), (request("GET", "/chat"), .other, nil),
            (request("POST", "/chat/negotiate?negotiateVersion=1"), .negotiate, nil),
        ]
        for (head, kind, key) in cases {
            #expect(SignalRCodec.kind(head) == kind)
            #expect(SignalRCodec.sessionKey(opening(head)) == key)
        }
        #expect(SignalRCodec.route(cases[0].0) == "/chat")
        #expect(SignalRCodec.route(cases[7].0) == "/chat")
        #expect(SignalRCodec.route(request("POST", "/negotiate")) == "/")
    }

    @Test(arguments: [
        ("?negotiateVersion=1", 1), ("?NEGOTIATEVERSION=7&x=1", 1), ("", 0), ("?negotiateVersion=0", 0),
    ])
    func negotiateAnswers(_ query: String, _ version: Int) throws {
        let head = request("POST", "/chat/negotiate\(query)")
        let ids = ServerIDs(connectionID: "public", token: "secret")
        let answer = try #require(SignalRCodec.negotiate(head, recorded: nil, ids: ids, transports: [.lp, .ws]))
        let both =
            version == 1
            ? #""connectionId":"public","connectionToken":"secret""# : #""connectionId":"secret""#
        #expect(answer.status == 200)
        #expect(answer.headers == [HeaderField("Content-Type", "application/json")])
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"negotiateVersion":\#(version),\#(both),"availableTransports":[{"transport":"WebSockets","transferFormats":["Text","Binary"]},{"transport":"LongPolling","transferFormats":["Text","Binary"]}]}"#
        )
    }

    @Test(arguments: [
        ("?negotiateVersion=x", "The client requested a non-integer protocol version."),
        ("?negotiateVersion=1&negotiateVersion=1", "The client requested a non-integer protocol version."),
        ("?negotiateVersion=99999999999", "The client requested a non-integer protocol version."),
        (
            "?negotiateVersion=-1",
            "The client requested version '-1', but the server does not support this version."
        ),
    ])
    func wrongVersionsAreErrorsWithStatus200(_ query: String, _ text: String) throws {
        let ids = ServerIDs(connectionID: "public", token: "secret")
        let answer = try #require(
            SignalRCodec.negotiate(request("POST", "/negotiate\(query)"), recorded: nil, ids: ids, transports: [.ws]))
        #expect(answer.status == 200)
        #expect(try JSONValue(parsing: answer.body) == .object([.init("error", .string(text))]))
    }

    @Test func otherMethodsAndPaths() throws {
        let ids = ServerIDs(connectionID: "public", token: "secret")
        #expect(
            SignalRCodec.negotiate(request("GET", "/negotiate"), recorded: nil, ids: ids, transports: [.ws])?.status
                == 405)
        #expect(SignalRCodec.negotiate(request("POST", "/chat"), recorded: nil, ids: ids, transports: [.ws]) == nil)
        let refusal = try #require(SignalRCodec.refuseNegotiate(request("POST", "/negotiate"), reason: "é"))
        #expect(String(decoding: refusal.body, as: UTF8.self) == #"{"error":"é"}"#)
        #expect(refusal.status == 200)
    }

    private func opened(_ recorded: String?, _ target: String, _ transports: [Transport]) -> String? {
        let before = recorded.map { opening(request("POST", "/hub/negotiate"), answer: $0) }
        return SignalRCodec.negotiate(
            request("POST", target), recorded: before, ids: ServerIDs(connectionID: "c", token: "t"),
            transports: transports
        ).map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func statefulReconnectIsGrantedWhenItWas() {
        let granted = #"{"useStatefulReconnect":true,"negotiateVersion":1,"connectionId":"x","availableTransports":[]}"#
        let plain = #"{"negotiateVersion":1,"connectionId":"x","availableTransports":[]}"#
        let asking = "/hub/negotiate?negotiateVersion=1&useStatefulReconnect=True"
        let start = #"{"useStatefulReconnect":true,"negotiateVersion":1,"connectionId":"c","connectionToken":"t","#
        #expect(opened(granted, asking, [.ws, .lp])?.hasPrefix(start) == true)
        #expect(opened(granted, asking, [.lp])?.contains("useStateful") == false)
        #expect(opened(plain, asking, [.ws])?.contains("useStateful") == false)
        #expect(opened(nil, asking, [.ws])?.contains("useStateful") == false)
        for query in ["?negotiateVersion=1", "?negotiateVersion=1&useStatefulReconnect=1"] {
            #expect(opened(granted, "/hub/negotiate" + query, [.ws])?.contains("useStateful") == false)
        }
    }

    @Test func unknownMembersAreHandedOn() {
        let recorded =
            #"{"negotiateVersion":1,"connectionId":"x","connectionToken":"y","availableTransports":[],"tokenLifetimeSeconds":3600,"accessToken":"a"}"#
        #expect(
            opened(recorded, "/hub/negotiate?negotiateVersion=1", [])
                == #"{"negotiateVersion":1,"connectionId":"c","connectionToken":"t","availableTransports":[],"tokenLifetimeSeconds":3600}"#
        )
    }

    @Test func redirectsAreGivenAgainAndMayBeLedElsewhere() throws {
        let recorded =
            #"{"negotiateVersion":1,"url":"https://svc/client/?hub=a","accessToken":"a.b.c","availableTransports":[],"extra":1}"#
        let head = request("POST", "/hub/negotiate?negotiateVersion=1", ("Host", "localhost:81"))
        let answer = try #require(SignalRCodec.redirect(head, recorded: opening(head, answer: recorded)))
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == recorded)
        let led = SignalRCodec.leading(answer.body) { $0 == "https://svc/client/?hub=a" ? "http://here/x" : nil }
        #expect(
            led.map { String(decoding: $0, as: UTF8.self) }
                == recorded.replacing("https://svc/client/?hub=a", with: "http://here/x"))
        #expect(SignalRCodec.leading(answer.body) { _ in nil } == nil)
        #expect(SignalRCodec.leading(Array(Self.v1.utf8)) { _ in "x" } == nil)
        #expect(SignalRCodec.mayLeadAway(head))
        #expect(SignalRCodec.mayLeadAway(request("POST", "/negotiate")))
        #expect(!SignalRCodec.mayLeadAway(request("GET", "/hub/negotiate")))
        #expect(!SignalRCodec.mayLeadAway(request("POST", "/hub?x=/negotiate")))
    }

    @Test func onlyRedirectsAreRedirected() {
        let head = request("POST", "/hub/negotiate", ("Host", "localhost:81"))
        #expect(SignalRCodec.redirect(head, recorded: opening(head, answer: Self.v1)) == nil)
        #expect(SignalRCodec.redirect(head, recorded: opening(head, answer: #"{"error":"no"}"#)) == nil)
        #expect(SignalRCodec.redirect(head, recorded: opening(head, answer: "<html>")) == nil)
        let redirect = opening(head, answer: #"{"url":"https://svc/client/?hub=chat"}"#)
        #expect(SignalRCodec.redirect(request("GET", "/hub/negotiate"), recorded: redirect) == nil)
    }

    @Test func slashesAtTheEndAreOneRoute() {
        for path in ["/client/", "/client", "/client/negotiate", "/client//negotiate"] {
            #expect(SignalRCodec.route(request("GET", path + "?hub=chat")) == "/client")
        }
        #expect(SignalRCodec.route(request("GET", "/")) == "/")
    }
}
