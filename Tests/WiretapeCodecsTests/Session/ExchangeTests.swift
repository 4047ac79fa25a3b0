import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

/// Ordinary HTTP beside the sessions.
@Suite struct ExchangeTests {
    private static let script = """
        1 open
        1 > 1 OPTIONS /chat/negotiate
        1 < 1 204
        1 > 2 GET /api/items?id=5
        1 > 3 POST /api/items {"name":"x"}
        1 < 3 201 made
        1 < 2 200 [1,2]
        1 > 4 POST /chat
        1 < 4 400 Connection ID required
        1 > 5 GET /chat?id=old
        1 < 5 404 No Connection with that ID
        1 > 6 GET /down
        1 <! 6 502 no server
        1 > 7 POST /graphql {"query":"{a}"}
        1 < 7 200j ...
        1 << 7 {"data":
        1 << 7 1}
        1 <. 7
        1 > 8 GET /cut
        1 < 8 200s ...
        1 << 8 half
        1 > 9 PUT /form ...
        1 >> 9 a=
        1 >> 9 1
        1 >. 9
        1 < 9 204
        1 > 10 GET /chat?id=late
        1 < 10 200
        2 open
        2 > 1 POST /chat?id=late {"protocol":"json","version":1}|
        1 gone server fin
        """

    /// Requests without a whole response are kept, unless they were not sent whole or ask for a session.
    @Test func failedExchangesAreKept() {
        let reading = Reading(
            Codecs.all,
            TapeScript.events(
                """
                1 open
                1 > 1 GET /flaky
                1 gone server fin
                2 open
                2 > 1 GET /flaky
                2 < 1 200 fine
                2 > 2 GET /big
                2 < 2 200j ...
                2 << 2 half
                2 > 3 PUT /form ...
                2 >> 3 a
                2 gone server rst
                3 open
                3 > 1 GET /slow
                3 gone client fin
                3 gone server fin
                4 open
                4 > 1 GET /late
                4 > 2 POST /chat/negotiate?negotiateVersion=1
                4 gone proxy fin
                """))
        let exchanges = reading.reader.exchanges
        #expect(
            exchanges.map { "\($0.request.method) \($0.request.path)" }
                == ["GET /flaky", "GET /flaky", "GET /big", "GET /slow", "GET /late"])
        #expect(
            exchanges.map(\.failure) == [.hungUp(isReset: false), nil, .cut(isReset: true), .unanswered, .unanswered])
        #expect(exchanges[2].response.status == 200 && exchanges[2].responseBody == Array("half".utf8))
        #expect(exchanges.map { ($0.answered - $0.time) / 1_000_000 } == [1, 1, 5, 2, 2])
    }

    @Test func whatNoCodecClaimsIsKept() {
        let reading = Reading(Codecs.all, TapeScript.events(Self.script))
        let exchanges = reading.reader.exchanges
        #expect(
            exchanges.map { "\($0.request.method) \($0.request.target) \($0.response.status)" } == [
                "GET /api/items?id=5 200", "POST /api/items 201", "POST /graphql 200", "PUT /form 204",
            ])
        #expect(
            exchanges.map { String(decoding: $0.responseBody, as: UTF8.self) } == ["[1,2]", "made", #"{"data":1}"#, ""])
        #expect(
            exchanges.map { String(decoding: $0.requestBody, as: UTF8.self) }
                == ["", #"{"name":"x"}"#, #"{"query":"{a}"}"#, "a=1"])
        #expect(exchanges.map(\.event) == [4, 5, 14, 22])
        #expect(exchanges.map(\.line) == [5, 6, 15, 23])
        #expect(exchanges.map { $0.time / 1_000_000 } == [4, 5, 14, 22])
        #expect(exchanges.map { $0.answered / 1_000_000 } == [7, 6, 15, 26])
        #expect(exchanges.allSatisfy { !$0.isCut && $0.connection == 1 })
        #expect(reading.sessions.map(\.transport) == [.sse, .lp])
        #expect(reading.sessions[0].codec.id == "events" && reading.sessions[0].entries.count == 3)
    }

    /// A recording that began in the middle of sessions.
    @Test func requestsOfSessionsThatBeginElsewhereAreNamed() {
        let script = """
            1 open
            1 > 1 GET /chat?id=old
            1 < 1 200 {"type":1,"target":"tick","arguments":[1]}|
            1 > 2 POST /chat?id=old {"type":1,"target":"Send","arguments":["x"]}|
            1 < 2 200
            1 > 3 GET /chat?id=older
            1 < 3 404 No Connection with that ID
            1 > 4 POST /chat/negotiate?negotiateVersion=1
            1 < 4 200j {"negotiateVersion":1,"connectionId":"a","connectionToken":"t","availableTransports":[]}
            2 open
            2 > 1 GET /chat?id=t
            2 < 1 200
            2 > 2 POST /chat?id=t {"protocol":"json","version":1}|
            2 < 2 200
            """
        for keepsEntries in [true, false] {
            let reading = Reading(Codecs.all, TapeScript.events(script), keepsEntries: keepsEntries)
            #expect(reading.sessions.count == 1)
            #expect(reading.reader.unplaced.map(\.line) == [3, 5])
            #expect(reading.reader.unplaced.allSatisfy { $0.codec == "signalr" })
        }
        let text = Reading(Codecs.all, TapeScript.events(script)).reader.unplaced.first?.text
        #expect(
            text?.hasPrefix(
                "GET /chat belongs to a signalr session that began before the recording, so messages of this request are not decoded. "
            ) == true)
    }

    /// The sessions of an earlier take cannot begin in a later one.
    @Test func unplacedRequestsOfAnEarlierTakeStay() {
        let again = TapeEvent(time: 0, connection: 0, .take(started: "2026-11-29T10:00:00Z"))
        let reading = Reading(
            Codecs.all,
            TapeScript.events("1 open\n1 > 1 GET /chat?id=old\n1 < 1 200 {}|") + [again]
                + TapeScript.events("1 open\n1 > 1 GET /a\n1 < 1 200 x"))
        #expect(reading.reader.unplaced.map(\.line) == [3])
    }

    @Test func longBodiesAreCut() {
        let piece = String(repeating: "x", count: 700_000)
        let reading = Reading(
            Codecs.all,
            TapeScript.events("1 open\n1 > 1 GET /a\n1 < 1 200j ...\n1 << 1 \(piece)\n1 << 1 \(piece)\n1 <. 1"))
        #expect(reading.reader.exchanges.map(\.isCut) == [true])
        #expect(reading.reader.exchanges.allSatisfy { $0.responseBody.count <= 1 << 20 })
        #expect(Reading(Codecs.all, TapeScript.events(Self.script), keepsEntries: false).reader.exchanges.isEmpty)
    }
}
