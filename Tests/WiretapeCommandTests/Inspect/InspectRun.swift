import WiretapeCommands
import WiretapeProtocol
internal import WiretapeTapeCommands
import WiretapeWire

/// A conversation of one of each, and what a format makes of it.
enum InspectRun {
    static func text(_ format: any InspectFormat, _ events: [TapeEvent]) -> String {
        var format = format
        var inspector = Inspector()
        var rows: [InspectRow] = []
        var out = ""
        format.begin(into: &out)
        for (i, event) in events.enumerated() { inspector.read(event, number: UInt64(i + 1), into: &rows) }
        for row in rows { format.append(row, into: &out) }
        format.finish(into: &out)
        return out
    }

    static func rows(_ events: [TapeEvent]) -> [InspectRow] {
        var inspector = Inspector()
        var rows: [InspectRow] = []
        for (i, event) in events.enumerated() { inspector.read(event, number: UInt64(i + 1), into: &rows) }
        return rows
    }

    static func at(_ milliseconds: Double, _ c: UInt32, _ kind: TapeEvent.Kind) -> TapeEvent {
        TapeEvent(time: UInt64(milliseconds * 1_000_000), connection: c, kind)
    }

    static func text(_ ms: Double, _ c: UInt32, _ direction: Direction, _ records: String...) -> TapeEvent {
        let payload = Array(records.map { $0 + "\u{1e}" }.joined().utf8)
        return at(ms, c, .message(direction, .text, payload, deflated: false, fragments: []))
    }

    private static let upgrade = [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")]

    private static func exchange(
        _ ms: Double, _ c: UInt32, _ method: String, _ target: String, _ status: Int, _ reason: String = "",
        request headers: [HeaderField] = [], response: [HeaderField] = [], body: String = "", proxy: Bool = false
    ) -> [TapeEvent] {
        let head = RequestHead(method: method, target: target, headers: headers)
        let bytes: TapeEvent.Body = body.isEmpty ? .none : .whole(Array(body.utf8))
        return [
            at(ms, c, .request(x: 1, head, .none)),
            at(
                ms + 1.5, c,
                .response(
                    x: 1, ResponseHead(status: status, reason: reason, headers: response), bytes, interim: false,
                    coding: nil, proxy: proxy)),
        ]
    }

    private static func stream(_ ms: Double, _ c: UInt32) -> [TapeEvent] {
        [at(ms, c, .open(.init()))]
            + exchange(ms, c, "GET", "/chat?id=tok", 101, request: upgrade, response: upgrade) + [
                text(ms + 2, c, .toServer, #"{"protocol":"json","version":1}"#),
                text(ms + 2.5, c, .toClient, "{}", #"{"type":1,"target":"Welcome","arguments":["ada"]}"#),
            ]
    }

    static let chat: [TapeEvent] =
        [at(0, 1, .open(.init(from: "127.0.0.1:5000")))]
        + exchange(
            0.2, 1, "POST", "/chat/negotiate?negotiateVersion=1", 200, "OK",
            response: [HeaderField("Content-Type", "application/json")],
            body: #"{"negotiateVersion":1,"connectionId":"id","connectionToken":"tok","availableTransports":[]}"#)
        + stream(20, 2) + [
            at(30, 2, .ping(.toClient, [])), at(30.1, 2, .pong(.toServer, [])),
            text(1200.345678, 2, .toClient, #"{"type":1,"target":"ReceiveMessage","arguments":["ada","hi"]}"#),
            text(1300, 2, .toServer, #"{"type":1,"invocationId":"7","target":"Add","arguments":[20,22]}"#),
            text(1301, 2, .toClient, #"{"type":3,"invocationId":"7","result":42}"#),
        ] + (1...9).map { text(1301 + Double($0) * 15_000, 2, $0 % 2 == 0 ? .toServer : .toClient, #"{"type":6}"#) }
        + [
            at(140_000, 2, .fault(rule: "cut", action: "reset", reference: 14, delivered: nil)),
            at(140_000, 2, .gone(by: .server, how: .rst, why: "ECONNRESET")),
            at(142_000, 3, .open(.init())),
        ] + exchange(142_000, 3, "POST", "/chat/negotiate", 502, "Bad Gateway", proxy: true)
        + stream(142_010, 4) + [
            at(142_020, 4, .mark("login done")),
            at(142_030, 4, .part(.toClient, .binary, n: 0, [1, 2, 3], last: false)),
            at(142_040, 4, .close(.toClient, code: 1001, reason: "bye")),
            at(142_041, 4, .close(.toServer, code: nil, reason: nil)),
            at(142_042, 4, .gone(by: .proxy, how: .fin, why: nil)),
            at(142_042, 0, .stop(events: 40, connections: 4, level: nil)),
        ]
}
