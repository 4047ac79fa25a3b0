internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// What the assembler knows of one connection.
final class AssembledConnection {
    let id: UInt32
    let loop: Int
    /// Exchanges whose request or answer is not complete, in order.
    private var exchanges: [AssembledExchange] = []
    private var lastX: UInt32 = 0
    private var tunnel: Tunnel = .none
    private var ended: [TapeEvent.Party] = []
    /// Nothing more will come.
    private(set) var isGone = false

    private enum Tunnel {
        case none
        /// Bytes of no known protocol, as chunks of the exchange that began it.
        case raw(x: UInt32)
        case webSocket(toServer: AssembledFrames, toClient: AssembledFrames)
    }

    private let scratch: AssembledFrames.Scratch
    private let held: InterceptedPieces
    private let inflateLimit: Int

    init(_ id: UInt32, loop: Int, scratch: AssembledFrames.Scratch, held: InterceptedPieces, inflateLimit: Int) {
        self.held = held
        self.inflateLimit = inflateLimit
        self.id = id
        self.loop = loop
        self.scratch = scratch
    }

    /// Bytes behind an upgrade.
    func bytes(_ payload: Span<UInt8>, _ direction: Direction, at time: UInt64, _ packer: inout MemberPacker) {
        switch tunnel {
        case .webSocket(let toServer, let toClient):
            (direction == .toServer ? toServer : toClient).feed(payload, at: time, &packer)
        case .raw(let x): packer.chunk(time, id, x: x, direction, payload)
        case .none: packer.chunk(time, id, x: lastX, direction, payload)
        }
    }

    /// Everything but `open` and `bytes`. Returns whether a body may yet stand inline: ask ``flushOld(at:_:)`` later.
    func take(
        _ kind: RecordKind, _ record: Record, _ payload: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker
    ) -> Bool {
        switch kind {
        case .request:
            lastX = max(lastX, record.x)
            guard let exchange = AssembledExchange(id, x: record.x, request: payload, at: time) else { return false }
            exchanges.append(exchange)
            return true
        case .response:
            return response(record, payload, at: time, &packer)
        case .body:
            exchange(record.x)?.body(payload, record.direction, at: time, &packer)
            return false
        case .bodyEnd:
            guard let exchange = exchange(record.x) else { return false }
            exchange.end(record.direction, trailers: TrailerRecord.decode(payload), at: time, &packer)
            if exchange.isDone { exchanges.removeAll { $0.x == record.x } }
            return false
        case .malformed:
            flushExchanges(at: time, &packer)
            let (reason, range) = MalformedRecord.decode(payload)
            RawLines.malformed(time, id, record.direction, payload.extracting(range), why: reason, &packer)
            return false
        case .raw:
            flushExchanges(at: time, &packer)
            tunnel = .raw(x: lastX)
            return false
        case .gone:
            gone(record, payload, at: time, &packer)
            return false
        case .lost:
            miss(record, payload, at: time, &packer)
            return false
        case .open, .tick, .mark, .bytes, .fault, .faultMark: return false
        }
    }

    /// Bytes were not captured. Of a body that misses some, nothing more comes, and no end.
    private func miss(_ record: Record, _ payload: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) {
        let count = payload.count == 8 ? payload.littleEndian(UInt64.self, at: 0) : nil
        flushExchanges(at: time, &packer)
        if record.x != 0, let cut = exchange(record.x) {
            cut.abandon(record.direction)
            if cut.isDone { exchanges.removeAll { $0.x == record.x } }
        }
        if case .webSocket(let toServer, let toClient) = tunnel {
            (record.direction == .toServer ? toServer : toClient).miss(count, at: time, &packer)
        }
        packer.append(TapeEvent(time: time, connection: id, .missing(record.direction, bytes: count)))
    }

    private func exchange(_ x: UInt32) -> AssembledExchange? { exchanges.first { $0.x == x } }

    private func response(
        _ record: Record, _ payload: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker
    ) -> Bool {
        let isOurs = record.flags & RecordFlags.proxy != 0
        let exchange = exchange(record.x) ?? AssembledExchange(id, x: record.x)
        guard let answer = exchange.response(payload, isOurs: isOurs, at: time, &packer) else { return false }
        switch answer {
        case .interim: return false
        case .complete:
            exchanges.removeAll { $0.x == record.x }
            return false
        case .waiting:
            if self.exchange(record.x) == nil { exchanges.append(exchange) }
            return true
        case .upgraded(let isWebSocket, let deflate):
            exchanges.removeAll { $0.x == record.x }
            tunnel =
                isWebSocket
                ? .webSocket(
                    toServer: AssembledFrames(
                        id, .toServer, deflate: deflate, scratch: scratch, held: held, limit: inflateLimit),
                    toClient: AssembledFrames(
                        id, .toClient, deflate: deflate, scratch: scratch, held: held, limit: inflateLimit))
                : .raw(x: record.x)
            return false
        }
    }

    private func gone(_ record: Record, _ payload: Span<UInt8>, at time: UInt64, _ packer: inout MemberPacker) {
        let (party, how) = GoneFlags.decode(record.flags)
        if case .webSocket(let toServer, let toClient) = tunnel {
            if party != .server || how != .fin { toServer.cut(at: time, &packer) }
            if party != .client || how != .fin { toClient.cut(at: time, &packer) }
        }
        if party != .client || how != .fin { flushExchanges(at: time, &packer) }
        let why = payload.isEmpty ? nil : text(payload)
        packer.append(TapeEvent(time: time, connection: id, .gone(by: party, how: how, why: why)))
        ended.append(party)
        isGone = how != .fin || (ended.contains(.client) && ended.contains(.server))
    }

    /// Writes what has waited long enough. Returns true when nothing waits any more.
    func flushOld(at time: UInt64, _ packer: inout MemberPacker) -> Bool {
        var isQuiet = true
        for exchange in exchanges where !exchange.flushOld(at: time, &packer) { isQuiet = false }
        return isQuiet
    }

    func flushExchanges(at time: UInt64, _ packer: inout MemberPacker) {
        for exchange in exchanges { exchange.flush(at: time, &packer) }
    }

    /// Records of this connection's loop were dropped.
    func lose(at time: UInt64, _ packer: inout MemberPacker) {
        flushExchanges(at: time, &packer)
        if case .webSocket(let toServer, let toClient) = tunnel {
            toServer.lose(at: time, &packer)
            toClient.lose(at: time, &packer)
        }
    }

    /// The recording ends in the middle of this connection.
    func flushAll(at time: UInt64, _ packer: inout MemberPacker) {
        flushExchanges(at: time, &packer)
        if case .webSocket(let toServer, let toClient) = tunnel {
            toServer.cut(at: time, &packer)
            toClient.cut(at: time, &packer)
        }
    }
}
