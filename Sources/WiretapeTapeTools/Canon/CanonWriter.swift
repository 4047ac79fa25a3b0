internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// Turns items into lines: gives connections and exchanges their numbers in the order of appearance, and times in whole
/// milliseconds that never go back.
struct CanonWriter {
    private var connections: [CanonCarrier: UInt32] = [:]
    private var exchanges: [Int: UInt32] = [:]
    private var exchangeCounts: [UInt32: UInt32] = [:]
    private var opens: [CanonCarrier: TapeEvent.Open] = [:]
    private var lastTime: UInt64 = 0
    private var lastConnection: UInt32 = 0
    private(set) var events: UInt64 = 0
    private(set) var opened: UInt64 = 0

    /// What the carrier's `open` will say. The first word counts.
    mutating func describe(_ carrier: CanonCarrier, _ open: TapeEvent.Open) {
        if opens[carrier] == nil { opens[carrier] = open }
    }

    mutating func append(_ item: CanonItem, into lines: inout [TapeNewLine]) {
        let time = milliseconds(item.time)
        switch item.what {
        case .comment(let bytes): lines.append(TapeNewLine(bytes, nil))
        case .line(let bytes, let carrier):
            var text = JSONText(bytes)
            if let carrier { try? text.set("/c", to: Array("\(connection(carrier, time, &lines))".utf8)) }
            if text.range(at: "/t") != nil { try? text.set("/t", to: Array("\(time)".utf8)) }
            add(text.bytes, TapeEvent(time: time, connection: 0, .unknown("")), &lines)
        case .note(let kind): note(kind, time, &lines)
        case .event(let kind, let carrier, let exchange, let json):
            let c = connection(carrier, time, &lines)
            let x = exchange.map { number($0, c) } ?? 0
            let event = TapeEvent(time: time, connection: c, CanonWriter.numbered(kind, x))
            add(CanonWriter.line(event, json: json), event, &lines)
        }
    }

    private mutating func note(_ kind: TapeEvent.Kind, _ time: UInt64, _ lines: inout [TapeNewLine]) {
        var kind = kind
        var time = time
        switch kind {
        case .stop: kind = .stop(events: events, connections: opened, level: nil)
        case .take:
            time = 0
            (lastTime, lastConnection) = (0, 0)
            connections = [:]
            exchanges = [:]
            exchangeCounts = [:]
        case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault,
            .mark, .gap, .missing, .unknown:
            break
        }
        let event = TapeEvent(time: time, connection: 0, kind)
        add(CanonWriter.line(event, json: nil), event, &lines)
    }

    private mutating func connection(
        _ carrier: CanonCarrier, _ time: UInt64, _ lines: inout [TapeNewLine]
    ) -> UInt32 {
        if let c = connections[carrier] { return c }
        lastConnection += 1
        opened += 1
        connections[carrier] = lastConnection
        let open = TapeEvent(time: time, connection: lastConnection, .open(opens[carrier] ?? .init()))
        opens[carrier] = nil
        add(CanonWriter.line(open, json: nil), open, &lines)
        return lastConnection
    }

    private mutating func number(_ exchange: Int, _ c: UInt32) -> UInt32 {
        if let x = exchanges[exchange] { return x }
        exchangeCounts[c, default: 0] += 1
        exchanges[exchange] = exchangeCounts[c]
        return exchangeCounts[c] ?? 1
    }

    private mutating func add(_ bytes: [UInt8], _ event: TapeEvent, _ lines: inout [TapeNewLine]) {
        events += 1
        lines.append(TapeNewLine(bytes, event))
    }

    private mutating func milliseconds(_ time: UInt64) -> UInt64 {
        lastTime = max(lastTime, time / 1_000_000 * 1_000_000)
        return lastTime
    }

    private static func numbered(_ kind: TapeEvent.Kind, _ x: UInt32) -> TapeEvent.Kind {
        switch kind {
        case .request(_, let head, let body): .request(x: x, head, body)
        case .response(_, let head, let body, let interim, let coding, let proxy):
            .response(x: x, head, body, interim: interim, coding: coding, proxy: proxy)
        case .chunk(_, let direction, let bytes): .chunk(x: x, direction, bytes)
        case .end(_, let direction, let trailers): .end(x: x, direction, trailers: trailers)
        case .open, .message, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop,
            .unknown:
            kind
        }
    }

    /// Without its line feed.
    private static func line(_ event: TapeEvent, json: [UInt8]?) -> [UInt8] {
        var bytes: [UInt8] = []
        TapeLines.append(event, into: &bytes)
        bytes.removeLast()
        guard let json else { return bytes }
        // Its payload is empty, or none.
        var text = JSONText(bytes)
        if text.range(at: "/text") != nil { try? text.remove("/text") }
        try? text.set("/json", to: json)
        return text.bytes
    }
}
