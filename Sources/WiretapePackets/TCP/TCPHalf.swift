internal import WiretapeBytes

/// One direction of a TCP connection: which bytes of it have been told, and what has come that stands further on. Sequence numbers
/// are unwrapped to 64 bits. Where segments overlap, the bytes that came first stay.
struct TCPHalf {
    /// Something that waits for its turn.
    struct Piece {
        var start: UInt64
        var content: Content
        var time: UInt64
        /// What its sender had of the other direction: it was sent after those bytes.
        var needs: UInt64?

        var end: UInt64 { start + content.length }
    }

    enum Content {
        case bytes([UInt8])
        /// So many bytes were sent and not captured: the capture cut its packets.
        case void(UInt64)
        case fin
        case reset

        var length: UInt64 {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .void(let count): count
            case .fin: 1
            case .reset: 0
            }
        }
    }

    /// The number of the first byte, or of the first one that was captured.
    private var first: (number: UInt32, isKnown: Bool)?
    /// The number of the next byte to tell; nil while nothing of this direction was seen.
    private(set) var next: UInt64?
    /// In order, without overlaps, all from ``next`` on.
    private(set) var pieces: [Piece] = []
    /// Bytes that they hold.
    private(set) var held = 0
    /// The other side has everything before this.
    private(set) var acknowledged: UInt64 = 0
    private(set) var acknowledgedAt: UInt64 = 0
    /// Bytes that came twice and differed the second time.
    private(set) var differing = 0
    /// When the last byte that was told had come, with all before it.
    private(set) var lastTime: UInt64 = 0
    /// Nothing follows its end.
    private(set) var hasEnded = false
    /// The bytes told last, for comparison with what comes again.
    private var history: [UInt8] = []

    /// Bytes that a SYN may stand before the first ones that were captured.
    private static let mostMissedAtBeginning: UInt32 = 65535
    /// Numbers begin high enough for some that are smaller.
    private static let base: UInt64 = 1 << 33

    /// The 64-bit number nearest to what was told last.
    func unwrapped(_ number: UInt32) -> UInt64 {
        guard let next else { return TCPHalf.base + UInt64(number) }
        let step = Int32(bitPattern: number &- UInt32(truncatingIfNeeded: next))
        return next.advanced(by: Int(step))
    }

    /// The first byte has this number.
    /// - Parameter isKnown: nothing stood before it.
    mutating func begin(at number: UInt32, isKnown: Bool) {
        guard next == nil else { return }
        next = TCPHalf.base + UInt64(number)
        first = (number, isKnown)
    }

    /// Whether a SYN with this number opened this direction. Of one whose beginning was not captured it may have, when it stands a
    /// little before the first bytes.
    func wasOpened(by sequence: UInt32) -> Bool {
        guard let first else { return false }
        let distance = first.number &- (sequence &+ 1)
        return distance == 0 || !first.isKnown && distance <= TCPHalf.mostMissedAtBeginning
    }

    mutating func acknowledge(_ number: UInt64, at time: UInt64) {
        guard next != nil, number > acknowledged else { return }
        acknowledged = number
        acknowledgedAt = time
    }

    /// Whether bytes that begin at `start` can be told at once.
    func isNext(_ start: UInt64) -> Bool { start == next && pieces.isEmpty && !hasEnded }

    // MARK: What comes

    /// Adds what of a segment is new.
    mutating func add(_ start: UInt64, _ bytes: Span<UInt8>, cut: UInt64, needs: UInt64?, at time: UInt64) {
        guard let next, !hasEnded else { return }
        compare(start, bytes, next)
        insert(start, bytes, needs, time)
        if cut > 0 { insertVoid(start + UInt64(bytes.count), cut, needs, time) }
    }

    mutating func addEnd(_ start: UInt64, isReset: Bool, needs: UInt64?, at time: UInt64) {
        guard let next, !hasEnded else { return }
        let at = isReset ? max(start, next) : start
        // A FIN may be captured behind the RST that followed it.
        guard at >= next, !pieces.contains(where: { $0.content.isEnd && (isReset || $0.start <= at) }) else { return }
        place(Piece(start: at, content: isReset ? .reset : .fin, time: time, needs: needs))
    }

    /// What of the bytes was told already must be the same.
    private mutating func compare(_ start: UInt64, _ bytes: Span<UInt8>, _ next: UInt64) {
        guard start < next, !bytes.isEmpty else { return }
        let historyStart = next - UInt64(history.count)
        let from = max(start, historyStart)
        let end = min(start + UInt64(bytes.count), next)
        guard from < end else { return }
        let mine = Int(from - historyStart)
        let theirs = Int(from - start)
        for i in 0..<Int(end - from) where history[mine + i] != bytes[theirs + i] { differing += 1 }
    }

    /// Adds the parts of a segment that no piece has.
    private mutating func insert(_ start: UInt64, _ bytes: Span<UInt8>, _ needs: UInt64?, _ time: UInt64) {
        guard let next else { return }
        let end = start + UInt64(bytes.count)
        var from = max(start, next)
        guard from < end else { return }
        var fresh: [Range<UInt64>] = []
        var at = pieces.firstIndex { $0.end > from } ?? pieces.count
        while at < pieces.count, pieces[at].start < end, from < end {
            let piece = pieces[at]
            if piece.start > from { fresh.append(from..<piece.start) }
            if case .bytes(let mine) = piece.content {
                let low = max(from, piece.start)
                let high = min(end, piece.end)
                if low < high {
                    for number in low..<high
                    where mine[Int(number - piece.start)] != bytes[Int(number - start)] { differing += 1 }
                    let parts = TCPHalf.relaxed(piece, mine, low..<high, needs)
                    pieces.replaceSubrange(at...at, with: parts)
                    at += parts.count - 1
                }
            }
            from = max(from, piece.end)
            at += 1
        }
        if from < end { fresh.append(from..<end) }
        for range in fresh {
            let part = [UInt8](copying: bytes.extracting(Int(range.lowerBound - start)..<Int(range.upperBound - start)))
            held += part.count
            place(Piece(start: range.lowerBound, content: .bytes(part), time: time, needs: needs))
        }
    }

    /// A piece of which some bytes were sent another time, when their sender had less: they need no more than that.
    private static func relaxed(_ piece: Piece, _ bytes: [UInt8], _ again: Range<UInt64>, _ needs: UInt64?) -> [Piece] {
        guard let old = piece.needs, needs.map({ $0 < old }) ?? true else { return [piece] }
        let cuts = [piece.start, again.lowerBound, again.upperBound, piece.end]
        return zip(cuts, cuts.dropFirst()).filter { $0 < $1 }.map { start, end in
            let part = Array(bytes[Int(start - piece.start)..<Int(end - piece.start)])
            let needs = start == again.lowerBound ? needs : old
            return Piece(start: start, content: .bytes(part), time: piece.time, needs: needs)
        }
    }

    private mutating func insertVoid(_ start: UInt64, _ count: UInt64, _ needs: UInt64?, _ time: UInt64) {
        guard let next else { return }
        let end = start + count
        var from = max(start, next)
        var fresh: [Range<UInt64>] = []
        for piece in pieces where piece.end > from && piece.start < end {
            if piece.start > from { fresh.append(from..<piece.start) }
            from = max(from, piece.end)
        }
        if from < end { fresh.append(from..<end) }
        for range in fresh {
            let size = range.upperBound - range.lowerBound
            place(Piece(start: range.lowerBound, content: .void(size), time: time, needs: needs))
        }
    }

    private mutating func place(_ piece: Piece) {
        var at = pieces.count
        while at > 0, pieces[at - 1].start > piece.start { at -= 1 }
        pieces.insert(piece, at: at)
    }

    // MARK: What is told

    /// The bytes that came next were told without waiting.
    mutating func told(_ bytes: Span<UInt8>, at time: UInt64, remember: Int) {
        guard let next else { return }
        self.next = next + UInt64(bytes.count)
        lastTime = max(lastTime, time)
        history.append(copying: bytes)
        if history.count > 2 * remember { history.removeFirst(history.count - remember) }
    }

    /// Takes the first piece when it is its turn, with the time at which all of it was there.
    mutating func takeNext(remember: Int) -> (content: Content, time: UInt64)? {
        guard let next, let first = pieces.first, first.start <= next else { return nil }
        pieces.removeFirst()
        lastTime = max(lastTime, first.time)
        switch first.content {
        case .bytes(let bytes):
            held -= bytes.count
            told(bytes.span, at: first.time, remember: remember)
        case .void(let count):
            self.next = next + count
            history = []
        case .fin:
            self.next = next + 1
            hasEnded = true
        case .reset: hasEnded = true
        }
        if hasEnded {
            pieces = []
            held = 0
            history = []
        }
        return (first.content, lastTime)
    }

    /// Cuts the first piece in two, when it has bytes on both sides of `number`.
    mutating func cutFirst(at number: UInt64) {
        guard let first = pieces.first, case .bytes(let bytes) = first.content, first.start < number, number < first.end
        else { return }
        let count = Int(number - first.start)
        var rest = first
        rest.start = number
        rest.content = .bytes(Array(bytes[count...]))
        pieces[0].content = .bytes(Array(bytes[..<count]))
        pieces.insert(rest, at: 1)
    }

    /// Nobody has the bytes up to `end`.
    /// - Returns: how many.
    mutating func giveUp(to end: UInt64) -> UInt64 {
        guard let next, end > next else { return 0 }
        self.next = end
        history = []
        return end - next
    }
}

extension TCPHalf.Content {
    var isEnd: Bool {
        switch self {
        case .fin, .reset: true
        case .bytes, .void: false
        }
    }
}
