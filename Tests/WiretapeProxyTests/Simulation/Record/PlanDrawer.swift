import WiretapeBytes
import WiretapeWire

/// Draws what a client and a server say to each other: requests with every kind of body, pipelined or not, answers of every
/// kind, and perhaps a WebSocket at the end.
struct PlanDrawer {
    var random: SplitMix64
    /// As the client writes it, and as the server must see it.
    let hostSent: String
    let hostSeen: String
    private var plan: ConnectionPlan
    private var exchange = 0

    init(_ number: Int, _ random: SplitMix64, hostSent: String, hostSeen: String) {
        self.random = random
        self.hostSent = hostSent
        self.hostSeen = hostSeen
        plan = ConnectionPlan(number: number)
    }

    /// - Parameter resets: whether one of the two may reset the connection.
    static func draw(
        _ number: Int, seed: UInt64, hostSent: String, hostSeen: String, resets: Bool
    ) -> ConnectionPlan {
        var drawer = PlanDrawer(
            number, SplitMix64(seed: seed &* 1_000 &+ UInt64(number)), hostSent: hostSent, hostSeen: hostSeen)
        drawer.fill(resets)
        return drawer.plan
    }

    private mutating func one(in n: Int) -> Bool { random.below(n) == 0 }

    private mutating func fill(_ resets: Bool) {
        let pipelines = one(in: 3)
        let count = 1 + random.below(5)
        var answers: [() -> [ConnectionPlan.Item]] = []
        for _ in 0..<count {
            let (request, answer) = drawExchange()
            plan.items += request
            answers.append { answer }
            if !pipelines || one(in: 4) {
                for answer in answers { plan.items += answer() }
                answers = []
            }
        }
        for answer in answers { plan.items += answer() }
        let serverEnds: Bool
        switch random.below(5) {
        case 0:
            drawLastWithoutLength()
            serverEnds = true
        case 1: serverEnds = one(in: 2)
        default: serverEnds = drawWebSocket()
        }
        plan.clientEnd = serverEnds ? .second : one(in: 4) ? .early : .first
        plan.serverEnd = serverEnds ? .first : .second
        guard resets else { return }
        if one(in: 2) {
            plan.clientEnd = .reset(after: 1 + random.below(plan.items(.toServer).count))
        } else {
            plan.serverEnd = .reset(after: 1 + random.below(plan.items(.toClient).count))
        }
    }

    // MARK: Pieces

    private mutating func add(
        _ direction: Direction, _ bytes: [UInt8], data: [UInt8] = [], control: [UInt8] = [], waits: Bool = true
    ) -> ConnectionPlan.Item {
        var item = ConnectionPlan.Item(direction: direction, sent: bytes, arrives: bytes, data: data, control: control)
        item.waits = waits
        item.delay = one(in: 3) ? UInt64(random.below(20_000_000)) : 0
        item.pause = one(in: 12) ? UInt64(random.below(60_000_000)) : 0
        return item
    }

    /// Bytes to cut bodies from: 300,000 of text, and as many of every value.
    private static let text = (0..<300_000).map { UInt8(97 + $0 % 26) }
    private static let binary = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 >> 8) }

    /// Text now and then, bytes of every value else; large ones are rare.
    private mutating func drawBody() -> [UInt8] {
        let size = one(in: 300) ? 150_000 + random.below(100_000) : one(in: 8) ? random.below(9_000) : random.below(60)
        let first = random.below(1_000)
        return Array((one(in: 2) ? Self.text : Self.binary)[first..<first + size])
    }

    private mutating func head(_ method: String, _ target: String, _ fields: [String]) -> ConnectionPlan.Item {
        func text(_ host: String) -> [UInt8] {
            let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
        var item = add(.toServer, text(hostSent), data: TapeContent.request(method, target), waits: false)
        item.arrives = text(hostSeen)
        return item
    }

    private mutating func target() -> String {
        exchange += 1
        return "/c\(plan.number)/\(exchange)" + (one(in: 3) ? "?a=%20b&c" : "")
    }

    /// A body in chunks with all that chunks may have, one item each.
    private mutating func chunks(_ direction: Direction, _ body: [UInt8]) -> [ConnectionPlan.Item] {
        var items: [ConnectionPlan.Item] = []
        var at = 0
        while at < body.count {
            let n = min(body.count - at, 1 + random.below(one(in: 3) ? 4_000 : 40))
            let size = one(in: 2) ? String(n, radix: 16) : "0" + String(n, radix: 16, uppercase: true)
            let piece = Array(body[at..<at + n])
            items.append(
                add(
                    direction, Array("\(size)\(one(in: 8) ? ";ext=1" : "")\r\n".utf8) + piece + [0x0d, 0x0a],
                    data: piece, waits: false))
            at += n
        }
        let trailers = one(in: 3) ? [HeaderField("X-Sum", "\(body.count)")] : []
        let text = "0\r\n" + trailers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
        items.append(add(direction, Array(text.utf8), data: TapeContent.end(trailers), waits: false))
        return items
    }

    private mutating func drawExchange() -> ([ConnectionPlan.Item], [ConnectionPlan.Item]) {
        let target = target()
        var request: [ConnectionPlan.Item] = []
        var answer: [ConnectionPlan.Item] = []
        var isHead = false
        let odd = one(in: 2) ? ["X-Odd:   spaced\t ", "x-ODD: again"] : []
        switch random.below(5) {
        case 0:
            let body = drawBody()
            request.append(head("POST", target, odd + ["Content-Length: \(body.count)"]))
            request.append(add(.toServer, body, data: body + TapeContent.end([]), waits: false))
        case 1:
            request.append(head("POST", target, ["Transfer-Encoding: chunked"] + odd))
            request += chunks(.toServer, drawBody())
        case 2:
            isHead = one(in: 2)
            request.append(head(isHead ? "HEAD" : "DELETE", target, odd))
            request[0].data += TapeContent.end([])
        default:
            request.append(head("GET", target, odd))
            request[0].data += TapeContent.end([])
        }
        if one(in: 6) { answer.append(status(103, ["Link: </a.css>"])) }
        answer += isHead ? [headAnswer()] : drawAnswer()
        answer[0].waits = true
        return (request, answer)
    }

    private mutating func status(_ code: Int, _ fields: [String], waits: Bool = false) -> ConnectionPlan.Item {
        let text = (["HTTP/1.1 \(code) Word"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
        return add(.toClient, Array(text.utf8), data: TapeContent.response(code), waits: waits)
    }

    private mutating func headAnswer() -> ConnectionPlan.Item {
        var item = status(200, ["Content-Length: 12345"])
        item.data += TapeContent.end([])
        return item
    }

    private mutating func drawAnswer() -> [ConnectionPlan.Item] {
        switch random.below(4) {
        case 0:
            var item = status(one(in: 2) ? 204 : 304, ["X-Empty: yes"])
            item.data += TapeContent.end([])
            return [item]
        case 1:
            return [status(200, ["Transfer-Encoding: chunked", "Content-Type: text/event-stream"])]
                + chunks(.toClient, drawBody())
        default:
            let body = drawBody()
            return [
                status(one(in: 4) ? 404 : 200, ["Content-Length: \(body.count)"]),
                add(.toClient, body, data: body + TapeContent.end([]), waits: false),
            ]
        }
    }

    /// An answer that the end of the connection ends.
    private mutating func drawLastWithoutLength() {
        var request = head("GET", target(), [])
        request.data += TapeContent.end([])
        let body = drawBody()
        plan.items.append(request)
        plan.items.append(status(200, ["Connection: close"], waits: true))
        plan.items.append(add(.toClient, body, data: body, waits: false))
        // Its end is not a byte of its own.
        plan.items.append(add(.toClient, [], data: TapeContent.end([]), waits: false))
    }

    // MARK: WebSocket

    /// Returns whether the server ends first.
    private mutating func drawWebSocket() -> Bool {
        let isRefused = one(in: 8)
        var request = head(
            "GET", target(),
            [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ])
        request.waits = one(in: 2)
        request.data += TapeContent.end([])
        plan.items.append(request)
        if isRefused {
            var answer = status(403, ["Content-Length: 0"], waits: true)
            answer.data += TapeContent.end([])
            plan.items.append(answer)
            return false
        }
        plan.items.append(
            status(
                101,
                ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="],
                waits: true))
        for _ in 0..<random.below(25) { drawMessage(one(in: 2) ? .toServer : .toClient) }
        guard one(in: 2) else { return one(in: 2) }
        let first: Direction = one(in: 2) ? .toServer : .toClient
        for direction in [first, first == .toServer ? .toClient : .toServer] {
            var frame: [UInt8] = []
            FrameWriter.appendClose(code: 1000, reason: "bye", mask: mask(direction), into: &frame)
            plan.items.append(add(direction, frame, control: TapeContent.close(1000, "bye")))
        }
        return one(in: 2)
    }

    private mutating func mask(_ direction: Direction) -> UInt32? {
        direction == .toServer ? UInt32(truncatingIfNeeded: random.next()) : nil
    }

    private mutating func drawMessage(_ direction: Direction) {
        if one(in: 8) {
            let payload = Array("p\(random.below(100))".utf8)
            let isPong = one(in: 2)
            var frame: [UInt8] = []
            FrameWriter.append(opcode: isPong ? 10 : 9, payload: payload.span, mask: mask(direction), into: &frame)
            plan.items.append(
                add(direction, frame, control: TapeContent.ping(payload, isPong: isPong), waits: one(in: 2)))
            return
        }
        let payload = drawBody()
        let isText = payload.allSatisfy { $0 < 128 }
        let pieces = one(in: 5) ? 2 + random.below(3) : 1
        var at = 0
        var lengths: [Int] = []
        var hasStarted = false
        for n in 0..<pieces {
            let end = n == pieces - 1 ? payload.count : at + random.below(payload.count - at + 1)
            let piece = Array(payload[at..<end])
            at = end
            lengths.append(piece.count)
            var frame: [UInt8] = []
            FrameWriter.append(
                opcode: n > 0 ? 0 : isText ? 1 : 2, fin: n == pieces - 1, payload: piece.span, mask: mask(direction),
                into: &frame)
            // A message that was cut before its first byte leaves nothing.
            let starts = !hasStarted && (!piece.isEmpty || n == pieces - 1)
            hasStarted = hasStarted || starts
            let start = starts ? TapeContent.messageStart(isText ? .text : .binary) : []
            let finish = n == pieces - 1 ? TapeContent.messageEnd(pieces > 1 ? lengths : []) : []
            plan.items.append(add(direction, frame, data: start + piece + finish, waits: n == 0 && one(in: 2)))
        }
    }
}
