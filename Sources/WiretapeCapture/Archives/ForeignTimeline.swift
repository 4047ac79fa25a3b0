internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// Brings the events of exchanges that overlap into one order. Exchanges come by the time at which they begin; what is certain
/// to come before the next one leaves. Memory: the events of exchanges that overlap.
struct ForeignTimeline {
    /// What is longer, or is told in pieces, does not stand inline on a tape.
    private static let inlineSize = 65_536
    private static let pieceSize = 1 << 20

    enum Item {
        case event(TapeEvent)
        /// A line of the tape that the archive was made of.
        case line([UInt8])
    }

    private struct Waiting {
        var key: UInt64
        var order: UInt64
        var item: Item
        var weight: Int
    }

    private struct Free {
        var connection: UInt32
        var since: UInt64
        var exchanges: UInt32
    }

    private let origin: UInt64
    private let memory: Int
    private var heap: [Waiting] = []
    private var order: UInt64 = 0
    private(set) var held = 0
    private(set) var connections: UInt32 = 0
    /// Connections on which nothing is under way, by server and name.
    private var free: [String: Free] = [:]

    /// - Parameters:
    ///   - origin: of the tape's times, nanoseconds since 1970.
    ///   - memory: what may wait.
    init(origin: UInt64, memory: Int) {
        self.origin = origin
        self.memory = memory
    }

    // MARK: Exchanges

    /// Adds the events of an exchange.
    /// - Parameter upstream: the name of its server on the tape.
    mutating func add(_ exchange: ForeignExchange, upstream: String) {
        let start = time(exchange.requestTime)
        let key = exchange.server + " " + (exchange.connection ?? "")
        var connection = connections + 1
        var x: UInt32 = 1
        if let idle = free.removeValue(forKey: key), idle.since <= exchange.requestTime {
            (connection, x) = (idle.connection, idle.exchanges + 1)
        } else {
            connections += 1
            var open = exchange.open
            open.upstream = upstream
            put(start, connection, .open(open))
        }
        for note in exchange.notes { put(start, connection, .mark(note)) }
        request(exchange, connection, x, at: start)
        if exchange.response != nil { answer(exchange, connection, x, after: start) }
        if let since = exchange.freesConnection, exchange.connection != nil || free[key] == nil {
            free[key] = Free(connection: connection, since: since, exchanges: x)
        }
    }

    private mutating func request(_ exchange: ForeignExchange, _ connection: UInt32, _ x: UInt32, at start: UInt64) {
        let body = exchange.requestBody
        guard body.count > ForeignTimeline.inlineSize || !exchange.requestTrailers.isEmpty else {
            return put(start, connection, .request(x: x, exchange.request, body.isEmpty ? .none : .whole(body)))
        }
        put(start, connection, .request(x: x, exchange.request, .streamed))
        pieces(body, connection, x, .toServer, at: start)
        put(start, connection, .end(x: x, .toServer, trailers: exchange.requestTrailers))
    }

    private mutating func answer(_ exchange: ForeignExchange, _ connection: UInt32, _ x: UInt32, after start: UInt64) {
        guard let head = exchange.response else { return }
        let begun = max(start, time(exchange.responseTime))
        let end = exchange.endTime.map { max(begun, time($0)) }
        func response(_ body: TapeEvent.Body) -> TapeEvent.Kind {
            .response(x: x, head, body, interim: false, coding: exchange.coding, proxy: false)
        }
        var last = begun
        switch exchange.answer {
        case .none where exchange.trailers.isEmpty: put(begun, connection, response(.none))
        case .whole(let bytes) where bytes.count <= ForeignTimeline.inlineSize && exchange.trailers.isEmpty:
            put(begun, connection, response(bytes.isEmpty ? .none : .whole(bytes)))
        case .none, .whole:
            put(begun, connection, response(.streamed))
            last = end ?? begun
            if case .whole(let bytes) = exchange.answer { pieces(bytes, connection, x, .toClient, at: last) }
            put(last, connection, .end(x: x, .toClient, trailers: exchange.trailers))
        case .pieces(let parts):
            put(begun, connection, response(.streamed))
            for part in parts {
                last = max(last, time(part.time))
                pieces(part.bytes, connection, x, .toClient, at: last)
            }
            if let end { put(max(last, end), connection, .end(x: x, .toClient, trailers: exchange.trailers)) }
        }
        for one in exchange.said ?? [] {
            last = max(last, time(one.time))
            put(last, connection, one.kind)
        }
    }

    private mutating func pieces(
        _ bytes: [UInt8], _ connection: UInt32, _ x: UInt32, _ direction: Direction, at time: UInt64
    ) {
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + ForeignTimeline.pieceSize)
            put(time, connection, .chunk(x: x, direction, Array(bytes[at..<end])))
            at = end
        }
    }

    private func time(_ absolute: UInt64) -> UInt64 { absolute > origin ? absolute - origin : 0 }

    // MARK: Order

    private mutating func put(_ time: UInt64, _ connection: UInt32, _ kind: TapeEvent.Kind) {
        push(time, .event(TapeEvent(time: time, connection: connection, kind)), kind.payloadCount + 128)
    }

    /// Adds a line of a tape that stood at place `number` on it; a comment stands before the event of its number.
    mutating func put(line: [UInt8], number: UInt64) {
        let key = ForeignTimeline.lineKey(number)
        push(line.first == UInt8(ascii: "#") ? key : key | 1, .line(line), line.count + 64)
    }

    /// Before all lines of `number`.
    static func lineKey(_ number: UInt64) -> UInt64 { number > .max >> 1 ? .max - 1 : number << 1 }

    private mutating func push(_ key: UInt64, _ item: Item, _ weight: Int) {
        order += 1
        held += weight
        heap.append(Waiting(key: key, order: order, item: item, weight: weight))
        var child = heap.count - 1
        while child > 0, ForeignTimeline.isBefore(heap[child], heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private static func isBefore(_ a: Waiting, _ b: Waiting) -> Bool { (a.key, a.order) < (b.key, b.order) }

    /// The next item that comes before `key`.
    mutating func next(before key: UInt64) -> Item? {
        guard let first = heap.first, first.key < key else { return nil }
        return pop()
    }

    mutating func next() -> Item? { heap.isEmpty ? nil : pop() }

    private mutating func pop() -> Item? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        held -= first.weight
        guard !heap.isEmpty else { return first.item }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && ForeignTimeline.isBefore(heap[child], heap[least]) {
                least = child
            }
            guard least != parent else { return first.item }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    /// Whether more waits than may.
    var isTooMuch: Bool { held > memory }

    /// The tape's time of `absolute`.
    func key(of absolute: UInt64) -> UInt64 { time(absolute) }
}
