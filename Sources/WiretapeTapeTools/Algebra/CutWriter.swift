internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeWire

/// Gives the lines of a tape that stay in a cut: the second pass.
struct CutWriter: Sendable {
    private let choice: CutChoice
    private let map: CutMap
    private let codecs: [CodecEntry]
    private var reader: SessionReader?
    private var decoded: [DecodedMessage] = []
    private var counter = CutChoice.Counter()
    private var clock = CutClock()
    /// Pieces of messages that are not whole yet.
    private var held: [Piece: [TapeLine]] = [:]
    /// Comments belong to the line behind them.
    private var comments: [TapeNewLine] = []
    /// What is taken from the times of the take at hand.
    private var shift: UInt64 = 0
    private var lastTime: UInt64 = 0
    private(set) var events: UInt64 = 0
    private var connections: UInt64 = 0
    private var numbers = NumberTrail()

    private struct Piece: Hashable {
        var place: CutMap.Place
        var x: UInt32?
        var direction: Direction
    }

    init(_ choice: CutChoice, _ map: CutMap, codecs: [CodecEntry]) {
        self.choice = choice
        self.map = map
        self.codecs = codecs
    }

    mutating func change(_ line: TapeLine) throws(TapeEdit.Fault) -> [TapeNewLine] {
        switch line.what {
        case .header(let header):
            reader = SessionReader(codecs: codecs, header: header, keepsEntries: false)
            defer { comments = [] }
            var text = JSONText(line.bytes)
            shift = choice.from
            if let started = moved(header.started) { try set("/started", to: started, in: &text, line) }
            return comments + [TapeNewLine(text.bytes, nil)]
        case .comment, .bad:
            comments.append(TapeNewLine(line))
            return []
        case .event(let event, let isUnframed):
            let stays = try lines(of: event, isUnframed: isUnframed, line)
            defer { comments = [] }
            return stays.isEmpty ? [] : comments + stays
        }
    }

    private mutating func lines(of event: TapeEvent, isUnframed: Bool, _ line: TapeLine) throws(TapeEdit.Fault)
        -> [TapeNewLine]
    {
        let time = clock.read(event)
        let place = CutMap.Place(take: clock.take, connection: event.connection)
        decoded.removeAll(keepingCapacity: true)
        reader?.read(event, number: line.number, line: line.line, isUnframed: isUnframed, into: &decoded)
        var dropped: [Int] = []
        for (i, one) in decoded.enumerated() {
            let isChosen = counter.chooses(one, at: time, choice)
            if !map.stays(one, isChosen: isChosen) { dropped.append(i) }
        }
        if isWhole(event, place, dropped) { dropped = [] }
        if let piece = piece(event, place) {
            held[piece, default: []].append(line)
            guard !decoded.isEmpty else { return [] }
            return try release(piece, dropped, event)
        }
        let released = try flush(event, place)
        guard isKept(event, place, at: time, dropped) else { return released }
        var text = JSONText(line.bytes)
        if !dropped.isEmpty {
            let isEncoded = reader?.hasDecoded ?? false
            if try TapeEditor.drop(dropped, of: decoded, isEncoded: isEncoded, from: &text, event, line) {
                return released
            }
        }
        return released + [try write(event, text, line)]
    }

    /// Whether what is not chosen of the event's messages stays beside the others.
    private func isWhole(_ event: TapeEvent, _ place: CutMap.Place, _ dropped: [Int]) -> Bool {
        if let x = CutMap.exchange(of: event), map.isUndivided(x, at: place) { return true }
        // Signs of life do not matter beside messages.
        return dropped.count < decoded.count
            && dropped.allSatisfy { [.keepalive, .ack].contains(decoded[$0].message.role) }
    }

    /// Whether the event stays, apart from messages in it that go.
    private func isKept(_ event: TapeEvent, _ place: CutMap.Place, at time: UInt64, _ dropped: [Int]) -> Bool {
        switch event.kind {
        case .open: map.isKept(place)
        case .request(let x, _, _), .response(let x, _, _, _, _, _), .end(let x, _, _), .chunk(let x, _, _):
            map.isOrphan(x, at: place) ? map.stays(orphanAt: time) && map.isKept(place) : map.isKept(x, at: place)
        case .message, .part:
            map.isKept(place) && (decoded.isEmpty ? choice.isInTime(time) : dropped.count < decoded.count)
        case .ping, .pong: map.isKept(place) && choice.isInTime(time) && !choice.hasMessages
        case .close, .gone, .frame, .missing: map.isKept(place) && choice.isInTime(time)
        case .fault(_, _, let reference, _, _):
            map.isKept(place) && choice.isInTime(time) && (reference.map { numbers[$0] != nil } ?? true)
        case .mark, .unknown:
            choice.isInTime(time) && (event.connection == 0 ? !choice.hasSessions : map.isKept(place))
        case .gap: choice.isInTime(time)
        case .take, .stop: true
        }
    }

    // MARK: Pieces

    /// A piece of a message that is judged when the message is whole.
    private func piece(_ event: TapeEvent, _ place: CutMap.Place) -> Piece? {
        guard choice.hasTimes || choice.hasMessages else { return nil }
        switch event.kind {
        case .part(let direction, _, _, _, _) where map.isKept(place):
            return Piece(place: place, x: nil, direction: direction)
        case .chunk(let x, .toClient, _) where map.isKept(x, at: place) && map.isStream(x, at: place):
            return Piece(place: place, x: x, direction: .toClient)
        case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault,
            .mark, .take, .gap, .missing, .stop, .unknown:
            return nil
        }
    }

    /// The last piece has come, or what follows the pieces.
    private mutating func release(_ piece: Piece, _ dropped: [Int], _ event: TapeEvent) throws(TapeEdit.Fault)
        -> [TapeNewLine]
    {
        let lines = held.removeValue(forKey: piece) ?? []
        guard dropped.count < decoded.count || decoded.isEmpty else { return [] }
        var out: [TapeNewLine] = []
        for line in lines {
            guard let event = line.event else { continue }
            var text = JSONText(line.bytes)
            if case .chunk = event.kind, !dropped.isEmpty {
                throw TapeEdit.Fault(
                    line: line.line, reason: "several messages came in one piece; `wiretape canon` parts them")
            }
            if !dropped.isEmpty {
                let isEncoded = reader?.hasDecoded ?? false
                if try TapeEditor.drop(dropped, of: decoded, isEncoded: isEncoded, from: &text, event, line) {
                    continue
                }
            }
            out.append(try write(event, text, line))
        }
        return out
    }

    /// Pieces without an end stay when they came in time.
    private mutating func flush(_ event: TapeEvent, _ place: CutMap.Place) throws(TapeEdit.Fault) -> [TapeNewLine] {
        guard !held.isEmpty else { return [] }
        let over: [Piece]
        switch event.kind {
        case .end(let x, let direction, _):
            over = [Piece(place: place, x: x, direction: direction)].filter { held[$0] != nil }
        case .missing(let direction, _):
            // What comes behind the gap does not go on with them.
            over = held.keys.filter { $0.place == place && $0.direction == direction }
                .sorted { ($0.x ?? 0) < ($1.x ?? 0) }
        case .gone:
            over = held.keys.filter { $0.place == place }.sorted { ($0.x ?? 0) < ($1.x ?? 0) }
        case .take, .stop:
            held = [:]
            return []
        case .open, .request, .response, .chunk, .message, .part, .ping, .pong, .close, .frame, .fault, .mark, .gap,
            .unknown:
            return []
        }
        var out: [TapeNewLine] = []
        for piece in over {
            for line in held.removeValue(forKey: piece) ?? [] {
                guard let event = line.event, let sum = Optional(event.time.addingReportingOverflow(clock.offset)),
                    choice.isInTime(sum.overflow ? .max : sum.partialValue), !choice.hasMessages
                else { continue }
                out.append(try write(event, JSONText(line.bytes), line))
            }
        }
        return out
    }

    // MARK: Writing

    /// The moment from which the take's times count now; nil: it stays, or is not told. It has microseconds: what is taken from
    /// the times is what it moved by.
    private mutating func moved(_ started: String?) -> String? {
        guard shift > 0, let started, let old = SystemClock.nanoseconds(rfc3339: started) else { return nil }
        let (sum, overflow) = old.addingReportingOverflow(shift)
        guard !overflow, case let text = SystemClock.rfc3339(sum), let new = SystemClock.nanoseconds(rfc3339: text),
            new > old
        else { return nil }
        shift = new - old
        return text
    }

    private func set(_ pointer: String, to value: String, in text: inout JSONText, _ line: TapeLine)
        throws(TapeEdit.Fault)
    {
        do throws(JSONText.Fault) {
            try text.set(pointer, to: Array(JSONValue.string(value).text.utf8))
        } catch {
            throw TapeEdit.Fault(line: line.line, reason: error.reason)
        }
    }

    private mutating func write(_ event: TapeEvent, _ text: JSONText, _ line: TapeLine) throws(TapeEdit.Fault)
        -> TapeNewLine
    {
        var event = event
        var text = text
        var isNewTake = false
        if case .take(let old) = event.kind {
            isNewTake = true
            shift = choice.from > clock.offset ? choice.from - clock.offset : 0
            if let started = moved(old) {
                event.kind = .take(started: started)
                try set("/started", to: started, in: &text, line)
            }
        }
        let time = isNewTake ? 0 : max(lastTime, event.time > shift ? event.time - shift : 0)
        do throws(JSONText.Fault) {
            if text.range(at: "/t") == nil {
                if time > lastTime || text.range(at: "/after") != nil {
                    try text.set("/after", to: Array(JSONValue.string(TapeEditor.spelled(time - lastTime)).text.utf8))
                }
            } else if time != event.time {
                try text.set("/t", to: Array("\(time)".utf8))
            }
            switch event.kind {
            case .stop(_, _, let level):
                event.kind = .stop(events: events, connections: connections, level: level)
                try text.set("/events", to: Array("\(events)".utf8))
                try text.set("/connections", to: Array("\(connections)".utf8))
            case .fault(let rule, let action, let reference?, let delivered, let played):
                let new = numbers[reference] ?? reference
                event.kind = .fault(rule: rule, action: action, reference: new, delivered: delivered, line: played)
                try text.set("/ref", to: Array("\(new)".utf8))
            case .open: connections += 1
            case .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault,
                .mark, .take, .gap, .missing, .unknown:
                break
            }
        } catch {
            throw TapeEdit.Fault(line: line.line, reason: error.reason)
        }
        event.time = time
        lastTime = time
        events += 1
        numbers.note(line.number, is: events)
        return TapeNewLine(text.bytes, event)
    }
}

/// New numbers of the latest events, for those that point at them.
struct NumberTrail: Sendable {
    private static let length = 65_536
    private var numbers: [UInt64: UInt64] = [:]
    private var order: [UInt64] = []

    subscript(old: UInt64) -> UInt64? { numbers[old] }

    mutating func note(_ old: UInt64, is new: UInt64) {
        if order.count >= 2 * NumberTrail.length {
            for number in order.prefix(NumberTrail.length) { numbers[number] = nil }
            order.removeFirst(NumberTrail.length)
        }
        numbers[old] = new
        order.append(old)
    }
}
