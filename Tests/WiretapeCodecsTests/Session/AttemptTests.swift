import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

/// Negotiations that were sent on, and attempts that the server refused.
@Suite struct AttemptTests {
    private func reading(_ script: String) -> Reading { Reading(Codecs.all, TapeScript.events(script)) }

    private static func redirect(_ target: String, _ token: String? = nil) -> String {
        let credential = token.map { #","accessToken":"\#($0)""# } ?? ""
        return #"{"negotiateVersion":1,"url":"http://127.0.0.1:1\#(target)"\#(credential),"availableTransports":[]}"#
    }

    private static let followed = """
        1 > 2 POST /hub/negotiate?via=front&negotiateVersion=1
        1 < 2 200 \(TapeScript.negotiated("a"))
        2 open
        2 > 1 WS /hub?via=front&id=a
        2 < 1 101
        2 text > {"protocol":"json","version":1}|
        """

    @Test func aRedirectBelongsToTheSession() {
        let session = reading(
            """
            1 open
            1 > 1 POST /front/negotiate?user=ann&negotiateVersion=1
            1 < 1 200 \(Self.redirect("/hub?via=front", "t"))
            \(Self.followed)
            """
        ).sessions[0]
        #expect(session.route == "/front" && session.serverIDs?.token == "a")
        #expect(session.redirects.map(\.request.target) == ["/front/negotiate?user=ann&negotiateVersion=1"])
        #expect(session.negotiate?.request.target == "/hub/negotiate?via=front&negotiateVersion=1")
        #expect(session.opening.request.target == "/hub?via=front&id=a")
    }

    @Test func redirectsFormChains() {
        let sessions = reading(
            """
            1 open
            1 > 1 POST /one/negotiate
            1 < 1 200 \(Self.redirect("/two"))
            1 > 3 POST /two/negotiate
            1 < 3 200 \(Self.redirect("/hub?via=front"))
            \(Self.followed)
            """
        ).sessions
        #expect(sessions.map(\.route) == ["/one"])
        #expect(sessions[0].redirects.map(\.request.path) == ["/one/negotiate", "/two/negotiate"])
    }

    @Test func theCredentialTellsRedirectsApart() {
        var events = TapeScript.events(
            """
            1 open
            1 > 1 POST /ann/negotiate?negotiateVersion=1
            1 < 1 200 \(Self.redirect("/hub?via=front", "token-ann"))
            2 open
            2 > 1 POST /bob/negotiate?negotiateVersion=1
            2 < 1 200 \(Self.redirect("/hub?via=front", "token-bob"))
            """)
        events.append(
            TapeEvent(
                time: 10_000_000, connection: 2,
                .request(
                    x: 2,
                    RequestHead(
                        method: "POST", target: "/hub/negotiate?via=front&negotiateVersion=1",
                        headers: [HeaderField("Authorization", "Bearer token-bob")]), .none)))
        events += TapeScript.events(
            """
            [11] 2 < 2 200 \(TapeScript.negotiated("a"))
            3 open
            3 > 1 WS /hub?via=front&id=a
            3 < 1 101
            3 text > {"protocol":"json","version":1}|
            """)
        #expect(Reading(Codecs.all, events).sessions.map(\.route) == ["/bob"])
    }

    @Test func aClientMayGoStraightToTheStream() {
        let session = reading(
            """
            1 open
            1 > 1 POST /front/negotiate?negotiateVersion=1
            1 < 1 200 \(Self.redirect("/hub?via=front"))
            2 open
            2 > 1 WS /hub?via=front
            2 < 1 101
            2 text > {"protocol":"json","version":1}|
            """
        ).sessions[0]
        #expect(session.route == "/front" && session.redirects.count == 1 && session.negotiate == nil)
    }

    @Test func redirectsThatNobodyFollowedInTimeAreForgotten() {
        let session = reading(
            """
            1 open
            1 > 1 POST /front/negotiate?negotiateVersion=1
            1 < 1 200 \(Self.redirect("/hub?via=front"))
            [90000] \(Self.followed)
            """
        ).sessions[0]
        #expect(session.route == "/hub" && session.redirects.isEmpty)
    }

    @Test func refusedNegotiationsAreAttempts() {
        let sessions = reading(
            """
            1 open
            1 > 1 POST /chat/negotiate?negotiateVersion=1
            1 < 1 503 busy
            1 > 2 POST /chat/negotiate?negotiateVersion=1
            1 < 2 200 {"error":"not now"}
            1 > 3 POST /chat/negotiate?negotiateVersion=1
            1 <! 3 502 no server
            1 > 4 POST /price/negotiate
            1 < 4 404 no hub
            \(Self.followed.replacing("1 > 2", with: "1 > 5").replacing("1 < 2", with: "1 < 5"))
            """
        ).sessions
        #expect(sessions.map(\.number) == [1, 2, 3])
        #expect(sessions.map(\.refusal?.status) == [503, 200, nil])
        #expect(
            sessions.map { String(decoding: $0.refusal?.body ?? [], as: UTF8.self) } == [
                "busy", #"{"error":"not now"}"#, "",
            ])
        #expect(sessions.map(\.codec.id) == ["signalr", "signalr", "signalr"])
        #expect(sessions.map(\.route) == ["/chat", "/chat", "/hub"])
        #expect(sessions.map(\.entries.count) == [0, 0, 1])
    }

    @Test func aRefusalBehindARedirectKeepsTheWayThere() {
        let session = reading(
            """
            1 open
            1 > 1 POST /front/negotiate?negotiateVersion=1
            1 < 1 200 \(Self.redirect("/hub?via=front"))
            1 > 2 POST /hub/negotiate?via=front&negotiateVersion=1
            1 < 2 401
            """
        ).sessions[0]
        #expect(session.route == "/front" && session.redirects.count == 1 && session.refusal?.status == 401)
        #expect(session.negotiate?.request.path == "/hub/negotiate")
    }

    @Test(arguments: [
        ("WS", "404", Transport.ws), ("WS", "200", .ws), ("SSE", "500", .sse), ("GET", "503", .lp),
    ])
    func aRefusedOpeningLeavesTheFallbackItsSession(_ method: String, _ status: String, _ transport: Transport) {
        let reading = reading(
            """
            1 open
            1 > 1 POST /chat/negotiate?negotiateVersion=1
            1 < 1 200 \(TapeScript.negotiated("b"))
            1 > 2 \(method) /chat?id=b
            1 < 2 \(status) no
            1 > 3 POST /chat/negotiate?negotiateVersion=1
            1 < 3 200 \(TapeScript.negotiated("a"))
            2 open
            2 > 1 SSE /chat?id=a
            2 < 1 200s ...
            1 > 4 POST /chat?id=a {"protocol":"json","version":1}|
            2 << 1 data: {}|~~
            """)
        let sessions = reading.sessions
        #expect(sessions.map(\.transport) == [transport, .sse])
        #expect(sessions.map(\.refusal?.status) == [Int(status), nil])
        #expect(sessions.map(\.negotiate?.request.target).allSatisfy { $0 != nil })
        #expect(sessions.map(\.serverIDs?.token) == ["b", "a"])
        #expect(sessions[1].lines == ["> Handshake json 1", "< Handshake accepted"])
        #expect(sessions[0].opening.request.target == "/chat?id=b")
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test func aSecondTryWithTheSameTokenIsTheSession() {
        let sessions = reading(
            """
            1 open
            1 > 1 POST /chat/negotiate?negotiateVersion=1
            1 < 1 200 \(TapeScript.negotiated("a"))
            2 open
            2 > 1 WS /chat?id=a
            2 < 1 503
            3 open
            3 > 1 WS /chat?id=a
            3 < 1 101
            3 text > {"protocol":"json","version":1}|
            3 gone server rst
            4 open
            4 > 1 WS /chat?id=a
            4 < 1 404 No Connection with that ID
            """
        ).sessions
        #expect(sessions.map(\.refusal?.status) == [503, nil])
        #expect(sessions.allSatisfy { $0.serverIDs?.connectionID == "ia" && $0.negotiate != nil })
        #expect(sessions[1].lines == ["> Handshake json 1", "< reset"])
    }

    @Test func aRefusedSocketIsOfTheProtocolOfItsRoute() {
        let sessions = reading(
            """
            1 open
            1 > 1 WS /chat
            1 < 1 401
            2 open
            2 > 1 WS /other
            2 < 1 403
            3 open
            3 > 1 WS /chat
            3 < 1 101
            3 text > {"protocol":"json","version":1}|
            """
        ).sessions
        #expect(sessions.map(\.codec.id) == ["signalr", "raw", "signalr"])
        #expect(sessions.map(\.refusal?.status) == [401, 403, nil])
        #expect(sessions.map(\.negotiate).allSatisfy { $0 == nil })
    }
}
