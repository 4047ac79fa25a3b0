internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeSystem
package import WiretapeTape
internal import WiretapeWire

/// Writes a tape as an HTTP archive (HAR 1.2): an entry a request, with what browsers add for WebSockets and event streams. What
/// a HAR has no place for stands under `_wiretape`, so that `wiretape import` makes the same tape of it again. Memory: the
/// entries that are not whole yet.
package final class HARExport {
    /// Why a tape cannot be one.
    package struct Fault: Error, CustomStringConvertible {
        package var reason: String
        package var description: String { reason }
    }

    /// A connection that is open.
    private struct Track {
        var server = "http://unknown:80"
        var exchanges: [UInt32: HARExchange] = [:]
        var socket: HARExchange?
        /// Lines that wait for the connection's next entry.
        var waiting: [HARExchange.Line] = []
        var latest: UInt32?
    }

    /// Bytes that are written at a time.
    private static let piece = 1 << 20

    private let maker: String
    private let memory: Int
    private let write: (Span<UInt8>) throws -> Void
    private var header: [UInt8] = []
    private var upstreams: [(name: String, url: String)] = []
    private var origin: UInt64 = 0
    private var tracks: [UInt32: Track] = [:]
    /// Lines that belong to no entry.
    private var rest: [HARExchange.Line] = []
    private var held = 0
    private var out: [UInt8] = []
    /// Comments have no number of their own: they stand before the next event.
    private var comments: [[UInt8]] = []
    /// Entries written so far.
    package private(set) var entries: UInt64 = 0

    /// - Parameters:
    ///   - maker: the version that the archive names.
    ///   - memory: bytes that entries may take while they are not whole.
    package init(maker: String, memory: Int, write: @escaping (Span<UInt8>) throws -> Void) {
        self.maker = maker
        self.memory = memory
        self.write = write
    }

    package func take(_ line: TapeLine) throws {
        switch line.what {
        case .header(let header):
            guard header.protocolID == nil else {
                throw Fault(
                    reason: "a sparse tape has no requests; play it to a client and export what was recorded of it")
            }
            self.header = line.bytes
            upstreams = header.upstreams
            origin = header.started.flatMap { SystemClock.nanoseconds(rfc3339: $0) } ?? 0
            out.append(utf8: #"{"log":{"version":"1.2","creator":{"name":"wiretape","version":"#)
            HARText.string(maker, into: &out)
            out.append(utf8: #"},"pages":[],"entries":["#)
            try flush()
        case .comment: if !line.bytes.isEmpty { comments.append(line.bytes) }
        case .bad(let fault): throw Fault(reason: "line \(line.line), column \(fault.offset + 1): \(fault.reason)")
        case .event(let event, _): try take(event, line)
        }
    }

    /// Writes what is not whole, and the end.
    package func finish() throws {
        for connection in tracks.keys.sorted() { try close(connection) }
        let last = (rest.map(\.number).max() ?? 0) + 1
        for comment in comments { rest.append(HARExchange.Line(number: last, template: comment, place: .none)) }
        out.append(utf8: #"],"_wiretape":{"version":1,"header":"#)
        out += header
        out.append(utf8: #","lines":["#)
        for (i, line) in rest.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            HARExchange.write(line, nil, [], into: &out)
            if out.count > HARExport.piece { try flush() }
        }
        out.append(utf8: "]}}}\n")
        try flush()
    }

    // MARK: Events

    private func take(_ event: TapeEvent, _ line: TapeLine) throws {
        let c = event.connection
        for comment in comments {
            attach(HARExchange.Line(number: line.number, template: comment, place: .none), c, nil)
        }
        comments = []
        switch event.kind {
        case .open(let open):
            // A tape that somebody has written by hand may open it again.
            try close(c)
            var track = Track()
            if let url = upstreams.first(where: { $0.name == open.upstream })?.url ?? upstreams.first?.url {
                track.server = url
            }
            tracks[c] = track
            attach(whole(line), c, nil)
        case .request(let x, let head, let body): try request(event, x, head, body, line)
        case .response(let x, let head, let body, let interim, let coding, _):
            if interim { attach(whole(line), c, x) } else { try response(event, x, head, body, coding, line) }
        case .chunk(let x, let direction, let bytes): chunk(event, x, direction, bytes, line)
        case .end(let x, let direction, _): try end(event, x, direction, line)
        case .message(let direction, let opcode, let bytes, _, _):
            guard let socket = tracks[c]?.socket else { return attach(whole(line), c, nil) }
            socket.last = event.time
            add(line, to: socket, socket.say(direction, opcode, bytes, at: seconds(event.time)), bytes.count)
        case .part(let direction, let opcode, let n, let bytes, let isLast):
            guard let socket = tracks[c]?.socket else { return attach(whole(line), c, nil) }
            socket.last = event.time
            let place = socket.say(
                part: bytes, direction, opcode, isFirst: n == 0, isLast: isLast, at: seconds(event.time))
            add(line, to: socket, place, 2 * bytes.count)
        case .ping, .pong, .close, .frame, .missing, .fault, .mark, .gap, .stop, .unknown: attach(whole(line), c, nil)
        case .gone:
            attach(whole(line), c, nil)
            try close(c)
        case .take(let started):
            for connection in tracks.keys.sorted() { try close(connection) }
            rest.append(whole(line))
            origin = SystemClock.nanoseconds(rfc3339: started) ?? origin
        }
        guard held <= memory else {
            throw Fault(
                reason: "entries that are open at event \(line.number) take more than --memory allows "
                    + "(\(ByteSize.text(memory))); raise it, or cut the tape (wiretape cut)")
        }
    }

    private func seconds(_ time: UInt64) -> Double { (Double(origin) + Double(time)) / 1e9 }

    private func request(
        _ event: TapeEvent, _ x: UInt32, _ head: RequestHead, _ body: TapeEvent.Body, _ line: TapeLine
    ) throws {
        let c = event.connection
        let server = tracks[c]?.server ?? Track().server
        let isAbsolute = !head.target.hasPrefix("/") && head.target.contains("://")
        let url = isAbsolute ? head.target : server + (head.target.hasPrefix("/") ? "" : "/") + head.target
        let exchange = HARExchange(c, url: url, head, at: event.time)
        exchange.lines = tracks[c]?.waiting ?? []
        tracks[c, default: Track()].waiting = []
        if let old = tracks[c]?.exchanges[x] { try emit(old) }
        tracks[c]?.exchanges[x] = exchange
        tracks[c]?.latest = x
        held += 1_024
        var place = HARExchange.Place.none
        switch body {
        case .whole(let bytes):
            exchange.requestBody = bytes
            place = .request(bytes.indices)
        case .none, .streamed: break
        }
        if case .streamed = body {} else { exchange.requestEnded = event.time }
        add(line, to: exchange, place, exchange.requestBody.count)
    }

    private func response(
        _ event: TapeEvent, _ x: UInt32, _ head: ResponseHead, _ body: TapeEvent.Body, _ coding: String?,
        _ line: TapeLine
    ) throws {
        let c = event.connection
        guard let exchange = tracks[c]?.exchanges[x] else { return attach(whole(line), c, nil) }
        exchange.response = head
        exchange.coding = coding
        exchange.answered = event.time
        exchange.last = event.time
        if head.status == 101, head.headers.hasToken("websocket", in: "Upgrade") {
            exchange.isSocket = true
            exchange.requestEnded = exchange.requestEnded ?? event.time
            tracks[c]?.exchanges[x] = nil
            if let old = tracks[c]?.socket { try emit(old) }
            tracks[c]?.socket = exchange
            return add(line, to: exchange, .none, 0)
        }
        var place = HARExchange.Place.none
        switch body {
        case .whole(let bytes):
            exchange.responseBody = bytes
            exchange.pieces = [(bytes.count, event.time)]
            place = .response(bytes.indices)
        case .none, .streamed: break
        }
        add(line, to: exchange, place, exchange.responseBody.count)
        if case .streamed = body { return }
        exchange.ended = event.time
        try emitIfComplete(exchange, x)
    }

    private func chunk(_ event: TapeEvent, _ x: UInt32, _ direction: Direction, _ bytes: [UInt8], _ line: TapeLine) {
        guard let exchange = tracks[event.connection]?.exchanges[x] else {
            return attach(whole(line), event.connection, nil)
        }
        exchange.last = event.time
        if direction == .toServer {
            let from = exchange.requestBody.count
            exchange.requestBody += bytes
            add(line, to: exchange, .request(from..<exchange.requestBody.count), bytes.count)
        } else {
            let from = exchange.responseBody.count
            exchange.responseBody += bytes
            exchange.pieces.append((exchange.responseBody.count, event.time))
            add(line, to: exchange, .response(from..<exchange.responseBody.count), bytes.count)
        }
    }

    private func end(_ event: TapeEvent, _ x: UInt32, _ direction: Direction, _ line: TapeLine) throws {
        attach(whole(line), event.connection, x)
        guard let exchange = tracks[event.connection]?.exchanges[x] else { return }
        exchange.last = event.time
        if direction == .toServer { exchange.requestEnded = event.time } else { exchange.ended = event.time }
        try emitIfComplete(exchange, x)
    }

    // MARK: Lines

    private func whole(_ line: TapeLine) -> HARExchange.Line {
        HARExchange.Line(number: line.number, template: line.bytes, place: .none)
    }

    /// Adds a line to the entry that its connection is at, or to the next one.
    private func attach(_ line: HARExchange.Line, _ connection: UInt32, _ x: UInt32?) {
        held += line.template.count + 64
        guard let track = tracks[connection] else { return rest.append(line) }
        let exchange = x.flatMap { track.exchanges[$0] } ?? track.socket ?? track.latest.flatMap { track.exchanges[$0] }
        if let exchange { exchange.lines.append(line) } else { tracks[connection]?.waiting.append(line) }
    }

    /// Adds a line whose payload the entry has at `place`.
    private func add(_ line: TapeLine, to exchange: HARExchange, _ place: HARExchange.Place, _ count: Int) {
        held += 2 * count + 128
        if case .none = place {
            held += line.bytes.count
            return exchange.lines.append(whole(line))
        }
        let members = JSONMembers(of: line.bytes)
        guard let payload = members.places.last(where: { ["text", "b64", "json"].contains($0.name) }) else {
            return exchange.lines.append(whole(line))
        }
        var template: [UInt8] = [UInt8(ascii: "{")]
        for member in members.places where member != payload {
            if template.count > 1 { template.append(UInt8(ascii: ",")) }
            JSONEscape.appendString(member.name, into: &template)
            template.append(UInt8(ascii: ":"))
            template += line.bytes[member.value]
        }
        template.append(UInt8(ascii: "}"))
        held += template.count
        exchange.lines.append(
            HARExchange.Line(number: line.number, template: template.tight, key: payload.name, place: place))
    }

    // MARK: Entries

    private func emitIfComplete(_ exchange: HARExchange, _ x: UInt32) throws {
        guard exchange.isComplete else { return }
        tracks[exchange.connection]?.exchanges[x] = nil
        try emit(exchange)
    }

    private func close(_ connection: UInt32) throws {
        guard let track = tracks.removeValue(forKey: connection) else { return }
        for x in track.exchanges.keys.sorted() { if let exchange = track.exchanges[x] { try emit(exchange) } }
        if let socket = track.socket { try emit(socket) }
        rest += track.waiting
    }

    private func emit(_ exchange: HARExchange) throws {
        if entries > 0 { out.append(UInt8(ascii: ",")) }
        out.append(0x0a)
        // It may be as large as what is held: it is not put together first.
        var text = out
        out = []
        try exchange.write(origin: origin, into: &text) { text in
            guard text.count > HARExport.piece else { return }
            try write(text.span)
            text.removeAll(keepingCapacity: true)
        }
        out = text
        entries += 1
        // About what it held: the sum is a limit, not a balance.
        let own = exchange.lines.reduce(1_024) { $0 + $1.template.count + 128 }
        held = max(0, held - own - 2 * (exchange.requestBody.count + exchange.responseBody.count) - spoken(exchange))
        try flush()
    }

    private func spoken(_ exchange: HARExchange) -> Int {
        exchange.messages.reduce(0) { $0 + 2 * $1.count } + exchange.runs.reduce(0) { $0 + 2 * $1.bytes.count }
    }

    private func flush() throws {
        let text = out
        out = []
        try write(text.span)
    }
}
