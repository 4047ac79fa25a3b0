internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Makes a tape canonical: what is left does not change from one recording of a conversation to the next, but for the
/// start and the times. `docs/tape-format.md` states what is kept, renamed and left out. Comments stay before what they
/// stood before. Feed lines in their order; memory: exchanges that have no whole answer yet, and what came after them.
package struct TapeCanon {
    let codecs: [CodecEntry]
    var reader: SessionReader?
    var decoded: [DecodedMessage] = []
    var names = CanonNames()
    var writer = CanonWriter()
    var take = 0
    var connections: [UInt32: Track] = [:]
    /// Sessions by their number.
    var sessions: [Int: Voice] = [:]
    /// Keys that a negotiation gave or a handshake proved, and what the session has done so far.
    var keys: [Key: Course] = [:]

    /// The line in hand has its payload as `json`.
    var isUnframed = false

    private var slots: [CanonSlot] = []
    private var firstSlot = 0
    private var nextExchange = 0

    struct Key: Hashable {
        var codec: String
        var key: String
    }

    /// A connection of the tape.
    struct Track {
        var open = TapeEvent.Open()
        /// Without a whole answer.
        var exchanges: [UInt32: Exchange] = [:]
        var socket: Socket?
    }

    /// A connection that has become a WebSocket.
    struct Socket {
        var carrier: CanonCarrier
        var clientFarewell = false
        var hasEnded = false
        /// Who closed it first.
        var closed: Direction?

        /// Whether what goes that way is still part of the conversation.
        func isOpen(_ direction: Direction) -> Bool {
            !hasEnded && closed != .toClient && !(closed == .toServer && direction == .toClient)
        }
    }

    /// What a session has done over HTTP.
    struct Course {
        /// The place of the first poll, and its time.
        var opening: (slot: Int, time: UInt64)?
        var hasPolled = false
        var isEnded = false
        var clientFarewell = false
        var pending = 0
    }

    /// A session's codec as far as it is needed to write its messages, and the ids that were renamed.
    struct Voice {
        var codec: any FrameCodec
        var ids = IDMap()
        var seen: Set<Chain> = []
        /// The server has said something that is no keepalive.
        var hasSpoken = false
    }

    package init(codecs: [CodecEntry]) { self.codecs = codecs }

    /// - Parameter lines: gets the lines that are settled.
    package mutating func add(_ line: TapeLine, into lines: inout [TapeNewLine]) {
        switch line.what {
        case .header(let header):
            reader = SessionReader(codecs: codecs, header: header, keepsEntries: false)
            lines.append(self.header(header, line))
        case .comment: put([CanonItem(time: 0, what: .comment(line.bytes))])
        case .bad: break
        case .event(let event, let isUnframed):
            decoded.removeAll(keepingCapacity: true)
            reader?.read(event, number: line.number, line: line.line, isUnframed: isUnframed, into: &decoded)
            self.isUnframed = isUnframed
            add(event, line)
        }
        flush(into: &lines)
    }

    /// The end of the tape: what waits is settled.
    package mutating func finish(into lines: inout [TapeNewLine]) {
        for c in connections.keys.sorted() { cut(c, nil) }
        for i in slots.indices { slots[i].isReady = true }
        flush(into: &lines)
    }

    private mutating func header(_ header: TapeHeader, _ line: TapeLine) -> TapeNewLine {
        var text = JSONText(line.bytes)
        for upstream in header.upstreams {
            let bare = CanonNames.withoutPort(upstream.url)
            if let mark = upstream.url.firstRange(of: "://") {
                names.note(authority: String(upstream.url[mark.upperBound...].prefix { $0 != "/" }))
            }
            let pointer = "/upstreams/" + upstream.name.replacing("~", with: "~0").replacing("/", with: "~1")
            try? text.set(pointer, to: Array(JSONValue.string(bare).text.utf8))
        }
        try? text.set("/canonical", to: Array("true".utf8))
        return TapeNewLine(text.bytes, nil)
    }

    private mutating func add(_ event: TapeEvent, _ line: TapeLine) {
        let c = event.connection
        switch event.kind {
        case .open(let open): opened(c, open)
        case .request(let x, let head, let body): request(x, head, body, event)
        case .response(let x, let head, let body, let interim, let coding, let proxy):
            if !interim { response(x, head, body, coding: coding, proxy: proxy, event) }
        case .chunk(let x, let direction, let bytes): chunk(x, direction, bytes, event)
        case .end(let x, let direction, _): end(x, direction, event)
        case .message, .part: socketMessages(event)
        case .close(let direction, let code, let reason): close(direction, code, reason, event)
        case .gone(let party, let how, _): gone(party, how, event)
        // Keepalives of the WebSocket itself.
        case .ping, .pong: break
        case .take:
            for c in connections.keys.sorted() { cut(c, nil) }
            connections = [:]
            take += 1
            put([CanonItem(time: event.time, what: .note(event.kind))])
        case .mark(let text):
            put([CanonItem(time: event.time, what: .note(.mark(PlayedMark.canonical(UndecodedBody.canonical(text)))))])
        case .gap, .missing, .stop: put([CanonItem(time: event.time, what: .note(event.kind))])
        case .fault(let rule, let action, _, let delivered, let line):
            // The number of the event that it was done to is not the same here; it is the one before.
            let kind = TapeEvent.Kind.fault(
                rule: rule, action: action, reference: nil, delivered: delivered, line: line)
            put([CanonItem(time: event.time, what: .note(kind))])
        case .frame: put([CanonItem(time: event.time, what: .line(line.bytes, on: socket(c).carrier))])
        case .unknown: put([CanonItem(time: event.time, what: .line(line.bytes, on: nil))])
        }
    }

    private mutating func opened(_ c: UInt32, _ open: TapeEvent.Open) {
        if let to = open.to { names.note(authority: to) }
        var bare = open
        bare.from = open.from.map(CanonNames.withoutPort)
        bare.to = open.to.map(CanonNames.withoutPort)
        connections[c] = Track(open: bare)
    }

    // MARK: Slots

    mutating func put(_ items: [CanonItem]) { slots.append(CanonSlot(items: items, isReady: true)) }

    /// A place that is filled later. What comes after it waits.
    mutating func reserve() -> Int {
        slots.append(CanonSlot())
        return firstSlot + slots.count - 1
    }

    mutating func fill(_ slot: Int, _ items: [CanonItem]) {
        guard slots.indices.contains(slot - firstSlot) else { return }
        slots[slot - firstSlot] = CanonSlot(items: items, isReady: true)
    }

    private mutating func flush(into lines: inout [TapeNewLine]) {
        var count = 0
        while count < slots.count, slots[count].isReady {
            for item in slots[count].items { writer.append(item, into: &lines) }
            count += 1
        }
        guard count > 0 else { return }
        slots.removeFirst(count)
        firstSlot += count
    }

    mutating func newExchange() -> Int {
        nextExchange += 1
        return nextExchange
    }

    // MARK: Carriers

    func own(_ c: UInt32, _ x: UInt32) -> CanonCarrier {
        CanonCarrier(kind: .own(connection: c, exchange: x), take: take)
    }

    mutating func carrier(of key: Key, _ c: UInt32) -> CanonCarrier {
        let carrier = CanonCarrier(kind: .session(codec: key.codec, key: key.key), take: take)
        writer.describe(carrier, connections[c]?.open ?? .init())
        return carrier
    }

    mutating func carrier(ofHostOf c: UInt32) -> CanonCarrier {
        let open = connections[c]?.open ?? .init()
        let carrier = CanonCarrier(kind: .host(open.from ?? "", upstream: open.upstream ?? ""), take: take)
        writer.describe(carrier, open)
        return carrier
    }
}
