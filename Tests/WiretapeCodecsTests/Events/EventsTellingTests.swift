import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Which exchanges are streams of events, and what is left to others.
@Suite struct EventsTellingTests {
    private func read(
        _ request: RequestHead, _ type: String?, _ pieces: [String], status: Int = 200,
        framing: HeaderField? = HeaderField("Transfer-Encoding", "chunked")
    ) -> Reading {
        let headers = (type.map { [HeaderField("Content-Type", $0)] } ?? []) + (framing.map { [$0] } ?? [])
        var events: [TapeEvent] = []
        func add(_ kind: TapeEvent.Kind) {
            events.append(TapeEvent(time: UInt64(events.count) * 200_000_000, connection: 1, kind))
        }
        add(.open(.init()))
        add(.request(x: 1, request, .none))
        add(
            .response(
                x: 1, ResponseHead(status: status, headers: headers), .streamed, interim: false, coding: nil,
                proxy: false))
        for piece in pieces { add(.chunk(x: 1, .toClient, Array(piece.utf8))) }
        add(.end(x: 1, .toClient, trailers: []))
        return Reading(Codecs.all, events)
    }

    private static let get = RequestHead(method: "GET", target: "/s")

    @Test(arguments: [
        ("text/event-stream", "sse"), ("Text/Event-Stream; charset=utf-8", "sse"), ("application/x-ndjson", "stream"),
        ("application/jsonl", "stream"), ("application/json-seq", "stream"), ("application/stream+json", "stream"),
        ("application/geo+json-seq", "stream"),
    ])
    func streamsAreSessions(_ type: String, _ transport: String) {
        for method in ["GET", "POST", "PUT"] {
            let reading = read(RequestHead(method: method, target: "/s"), type, ["data: {\"a\":1}\n\n"])
            #expect(reading.sessions.map(\.codec.id) == ["events"])
            #expect(reading.sessions.map(\.transport.rawValue) == [transport])
            #expect(reading.sessions[0].route == "/s" && reading.sessions[0].isOperation)
            #expect(reading.reader.exchanges.isEmpty)
        }
    }

    @Test(arguments: [
        "text/html", "application/json", "application/xml", "text/css", "image/png", "text/csv", "text/javascript",
        "font/woff2", "application/grpc", "application/pdf", "multipart/form-data; boundary=x",
    ])
    func documentsAreNot(_ type: String) {
        let reading = read(Self.get, type, ["{\"a\":", "1}\n", "<p>\n"])
        #expect(reading.sessions.isEmpty && reading.reader.exchanges.count == 1)
    }

    private static let chunked = HeaderField("Transfer-Encoding", "chunked")

    /// Bodies without a length whose type says nothing of what they are.
    @Test(arguments: [
        "text/plain", "Text/Plain; charset=utf-8", "application/octet-stream", "application/vnd.amazon.eventstream",
        "application/grpc-web+proto", "application/grpc-web-text", "application/connect+json", nil,
    ])
    func bodiesInPiecesAreSessions(_ type: String?) {
        for framing in [Self.chunked, HeaderField("Connection", "close"), nil] {
            for method in ["GET", "POST"] {
                let reading = read(
                    RequestHead(method: method, target: "/s"), type, ["ab\nc", "d"],
                    status: method == "GET" ? 200 : 201,
                    framing: framing)
                #expect(reading.sessions.map(\.codec.id) == ["events"])
                #expect(reading.sessions.map(\.transport) == [.stream])
                let said = messages(reading)
                #expect(said.map(\.type) == ["piece", "piece"] && said.map(\.label) == ["message", "message"])
                #expect(said.map { String(decoding: $0.bytes, as: UTF8.self) } == ["ab\nc", "d"])
            }
        }
        let whole = read(Self.get, type, ["abcd"], framing: HeaderField("Content-Length", "4"))
        #expect(whole.sessions.isEmpty && whole.reader.exchanges.count == 1)
        for (method, status) in [("HEAD", 200), ("GET", 404), ("GET", 302), ("GET", 204)] {
            let pieces = method == "HEAD" || status == 204 ? [] : ["no"]
            #expect(read(RequestHead(method: method, target: "/s"), type, pieces, status: status).sessions.isEmpty)
        }
    }

    private func messages(_ reading: Reading) -> [Message] {
        reading.sessions.flatMap(\.entries).compactMap { entry in
            if case .message(let message) = entry.what, message.direction == .toClient { message } else { nil }
        }
    }

    /// Other protocols answer with pieces of no meaning of their own, too: a reservation of GraphQL's, a poll of SignalR's that
    /// has nothing to say.
    @Test func whatAnotherProtocolAsksForStaysItsOwn() {
        let reservation = read(
            RequestHead(method: "PUT", target: "/graphql/stream"), "text/plain", ["a1-b2"], status: 201)
        let negotiation = read(RequestHead(method: "POST", target: "/hub/negotiate"), "text/plain", ["{}"])
        let poll = read(RequestHead(method: "GET", target: "/hub?id=abc"), "application/octet-stream", [])
        for reading in [reservation, negotiation, poll] {
            #expect(reading.sessions.allSatisfy { $0.codec.id != "events" })
        }
    }

    @Test(arguments: ["/s?id=5", "/s?token=a"]) func aQueryMayLookLikeAPoll(_ target: String) {
        let reading = read(RequestHead(method: "GET", target: target), "text/plain", ["a", "b"])
        #expect(reading.sessions.map(\.codec.id) == ["events"])
        #expect(messages(reading).map(\.summary) == ["a", "b"])
    }

    /// A piece may end within a character: what there is of the text is shown, and no byte changes.
    @Test func cutCharactersAreShown() {
        var codec = EventsCodec(
            StreamOpening(request: Self.get, response: ResponseHead(status: 200, headers: [Self.chunked])))
        func shown(_ bytes: [UInt8]) -> String {
            var messages: [Message] = []
            codec.decode(bytes.span, .text, .toClient, into: &messages)
            #expect(messages.map(\.bytes) == [bytes])
            return messages[0].summary
        }
        let text = Array("aé🌍b".utf8)
        for at in 1..<text.count {
            let (first, second) = (shown(Array(text[..<at])), shown(Array(text[at...])))
            #expect(first.hasPrefix("a") && second.hasSuffix("b"), "\(first) \(second)")
        }
        #expect(shown(Array(text[..<2])) == "a\u{fffd}" && shown(Array(text[2...])) == "\u{fffd}🌍b")
        #expect(shown([0xff, 0, 1]) == "3 bytes ff0001" && shown([0x80]) == "1 bytes 80")
        #expect(shown(Array("{\"a\": 1}\n".utf8)) == #"{"a":1}"#)
    }

    @Test func refusalsAreNot() {
        for status in [204, 301, 404, 503] {
            let reading = read(Self.get, "text/event-stream", status == 204 ? [] : ["data: no\n\n"], status: status)
            #expect(reading.sessions.isEmpty && reading.reader.exchanges.count == 1)
        }
    }

    /// What other protocols would read as the name of a session is an item like others.
    @Test(arguments: ["/s?id=5", "/s?token=a", "/s?id=5&token=a"])
    func aQueryMayLookLikeASession(_ target: String) {
        let accept = [HeaderField("Accept", "text/event-stream")]
        let request = RequestHead(method: "GET", target: target, headers: accept)
        let reading = read(request, "text/event-stream", [": hi\n\n", "data: 1\n\n", "data: 2\n\n"])
        #expect(reading.sessions.map(\.codec.id) == ["events"])
        #expect(reading.sessions[0].entries.count == 5)
    }

    /// A comment, `retry:` and an id alone are told to nobody, and kept; so is an event that never ended.
    @Test func whatIsNoMessageIsKept() {
        let pieces = [
            ": hi\n", "\n", "retry: 9\n\n", "id: 4\n\n", "event: a\r\ndata: 1\r\ndata: 2\r", "\n\r\n", "data: 3\n",
        ]
        let session = read(Self.get, "text/event-stream", pieces).sessions[0]
        let messages = session.entries.compactMap { entry -> Message? in
            if case .message(let message) = entry.what, message.direction == .toClient { message } else { nil }
        }
        #expect(messages.map(\.type) == ["comment", "comment", "comment", "comment", "event", "comment"])
        #expect(messages.flatMap(\.bytes) == Array(pieces.joined().utf8))
        #expect(messages[4].label == "a" && messages[4].content == .object([.init("text", .string("1\n2"))]))
        #expect(messages.map { EventsCodec.id(of: $0) } == [nil, nil, nil, "4", nil, nil])
    }

    /// All cuts of a body give the same events and lines, and lose no byte.
    @Test(arguments: [
        (UnitReader.Kind.events, "\u{feff}data: 1\n\nevent: x\r\ndata: 2\r\n\r\ndata: 3\r\rid: 1\ndata: é\n\ndata: 5"),
        (.lines, "{\"a\":1}\n\r\n[2]\r\n\u{1e}{\"a\":3}\nend"),
    ])
    func cutsDoNotMatter(_ kind: UnitReader.Kind, _ text: String) {
        let bytes = Array(text.utf8)
        func cut(_ sizes: [Int]) -> [[UInt8]] {
            var reader = BodyReader(.units(kind), limit: 1_000)
            var units: [[UInt8]] = []
            var from = 0
            for size in sizes {
                let piece = Array(bytes[from..<min(bytes.count, from + size)])
                from += piece.count
                var at = 0
                while case .payload(let unit, let next) = reader.feed(piece, from: at, of: EventsCodec.self) {
                    units.append(unit)
                    at = next
                }
            }
            let rest = reader.takeRest()
            return units + (rest.isEmpty ? [] : [rest])
        }
        let whole = cut([bytes.count])
        #expect(whole.count == 5)
        for at in 1..<bytes.count {
            let units = cut([at, bytes.count - at])
            #expect(units.flatMap(\.self) == bytes)
            #expect(units.count == whole.count, "\(at)")
        }
        #expect(cut(Array(repeating: 1, count: bytes.count)).count == whole.count)
    }

    @Test func tooLongOnesArePassedOver() {
        var reader = BodyReader(.units(.events), limit: 16)
        let text = Array("data: 1\n\ndata: \(String(repeating: "x", count: 40))\n\ndata: 2\n\n".utf8)
        var at = 0
        var found: [String] = []
        reading: while true {
            switch reader.feed(text, from: at, of: EventsCodec.self) {
            case .more: break reading
            case .payload(let unit, let next): (at, found) = (next, found + [String(decoding: unit, as: UTF8.self)])
            case .tooLong(let next): (at, found) = (next, found + ["long"])
            case .skipped(let next): at = next
            }
        }
        #expect(found == ["data: 1\n\n", "long", "data: 2\n\n"])
    }
}
