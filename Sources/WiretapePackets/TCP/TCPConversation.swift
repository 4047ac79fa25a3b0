internal import WiretapeBytes

/// A TCP connection as a capture shows it: puts its segments in order and decides what is missing.
///
/// A segment waits until the bytes before it were told, and those of the other direction that its sender had acknowledged: so an
/// answer never comes before its question, in whatever order the packets were captured. Bytes that the receiver has acknowledged and
/// the capture does not hold will not come again: after ``patience`` they are given up. Others may be sent again and are waited for.
final class TCPConversation {
    /// Nanoseconds that captured packets may be out of order.
    static let patience: UInt64 = 100_000_000
    /// … and packets of this connection.
    static let packetPatience = 64
    /// Nanoseconds that what was never acknowledged is waited for.
    static let longPatience: UInt64 = 30_000_000_000
    /// Bytes that may wait in one direction.
    static let mostHeld = 4 << 20

    let handler: any TCPStreamHandler
    private var one = TCPHalf()
    private var two = TCPHalf()
    /// Packets seen, and when and at which of them something began to be missing.
    private var packets = 0
    private var stall: (time: UInt64, packet: Int)?
    private(set) var lastTime: UInt64 = 0
    /// Who sent the first SYN, and the number of the first byte behind it.
    private var opener: (side: TCPSide, first: UInt32)?
    /// Nothing more can come of it.
    private(set) var isOver = false

    init(_ handler: any TCPStreamHandler) {
        self.handler = handler
    }

    /// Whether it waits for something that may never come: ask ``passed(to:)`` again.
    var isStalled: Bool { stall != nil }
    var held: Int { one.held + two.held }
    var differing: Int { one.differing + two.differing }

    private func half(_ side: TCPSide) -> TCPHalf { side == .one ? one : two }

    private func change<R>(_ side: TCPSide, _ body: (inout TCPHalf) -> R) -> R {
        switch side {
        case .one: body(&one)
        case .two: body(&two)
        }
    }

    /// Whether a SYN with this number begins another connection between the same ends.
    func isAnother(_ sequence: UInt32, from side: TCPSide) -> Bool {
        let half = half(side)
        guard let next = half.next else { return isOver }
        // A packet may be captured twice, the second time behind the end of its connection.
        if half.wasOpened(by: sequence) { return false }
        // Its own SYN again stands at most a window before what was told.
        let distance = Int64(bitPattern: half.unwrapped(sequence &+ 1) &- next)
        return isOver || distance > 0 || distance < -(1 << 30) || half.hasEnded
    }

    // MARK: Segments

    /// - Parameters:
    ///   - bytes: the data that was captured.
    ///   - remember: bytes to keep of what was told, for comparison.
    func take(_ segment: TCPSegment, _ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64, remember: Int) {
        guard !isOver else { return }
        packets += 1
        lastTime = max(lastTime, time)
        if segment.isSyn { change(side) { $0.begin(at: segment.sequence &+ 1, isKnown: true) } }
        if segment.isSyn, !segment.acknowledges { opener = (side, segment.sequence &+ 1) }
        if segment.acknowledges, segment.isSyn || isHandshake(segment, from: side) {
            // What it answers is the other side's SYN.
            change(side.other) { $0.begin(at: segment.acknowledgement, isKnown: true) }
        }
        let hasData = segment.length > 0
        if half(side).next == nil, hasData || segment.isFin || segment.isReset {
            change(side) { $0.begin(at: segment.sequence, isKnown: false) }
            if hasData { handler.missed(nil, from: side, at: time) }
        }
        var needs: UInt64?
        if segment.acknowledges {
            let other = half(side.other)
            if other.next != nil {
                let number = other.unwrapped(segment.acknowledgement)
                change(side.other) { $0.acknowledge(number, at: time) }
                needs = number
            }
        }
        let start = half(side).unwrapped(segment.isSyn ? segment.sequence &+ 1 : segment.sequence)
        let cut = UInt64(segment.length - bytes.count)
        if hasData {
            if cut == 0, half(side).isNext(start), mayBeTold(needs, side) {
                change(side) { $0.told(bytes, at: time, remember: remember) }
                handler.received(bytes, from: side, at: half(side).lastTime)
            } else {
                change(side) { $0.add(start, bytes, cut: cut, needs: needs, at: time) }
            }
        }
        if segment.isFin || segment.isReset {
            let end = start + UInt64(segment.length)
            change(side) { $0.addEnd(end, isReset: segment.isReset, needs: needs, at: time) }
        }
        tell(remember)
        while held > TCPConversation.mostHeld, giveUpOne(at: time, all: true, remember) {}
        watch(at: time)
        passed(to: time, remember: remember)
    }

    /// Whether the segment ends the handshake of a connection whose other SYN did not come yet: its sender has said nothing, and who
    /// is asked says nothing before that (RFC 9112, RFC 8446).
    private func isHandshake(_ segment: TCPSegment, from side: TCPSide) -> Bool {
        guard let opener, opener.side == side, half(side.other).next == nil else { return false }
        return segment.sequence == opener.first && !segment.isFin && !segment.isReset
    }

    /// Whether what `side` said after it had so much of the other side may be told.
    private func mayBeTold(_ needs: UInt64?, _ side: TCPSide) -> Bool {
        let other = half(side.other)
        guard let needs, let next = other.next else { return true }
        return needs <= next || other.hasEnded
    }

    /// Tells what has its turn.
    private func tell(_ remember: Int) {
        var goesOn = true
        while goesOn, !isOver {
            goesOn = false
            for side in TCPSide.allCases {
                while let first = half(side).pieces.first, mayBeTold(first.needs, side),
                    let (content, time) = change(side, { $0.takeNext(remember: remember) })
                {
                    goesOn = true
                    told(content, side, at: time)
                }
            }
        }
    }

    private func told(_ content: TCPHalf.Content, _ side: TCPSide, at time: UInt64) {
        switch content {
        case .bytes(let bytes): handler.received(bytes.span, from: side, at: time)
        case .void(let count): handler.missed(count, from: side, at: time)
        case .fin:
            handler.ended(side, isReset: false, at: time)
            if one.hasEnded, two.hasEnded { leave(at: time) }
        case .reset:
            drain(side.other)
            handler.ended(side, isReset: true, at: time)
            leave(at: time)
        }
    }

    private func leave(at time: UInt64) {
        handler.finished(at: time)
        isOver = true
    }

    /// Tells all that came of a side, whatever is missing between: the connection was reset.
    private func drain(_ side: TCPSide) {
        while let first = half(side).pieces.first, let next = half(side).next {
            let count = change(side) { $0.giveUp(to: max(next, first.start)) }
            if count > 0 { handler.missed(count, from: side, at: first.time) }
            guard let (content, time) = change(side, { $0.takeNext(remember: 0) }) else { return }
            switch content {
            case .bytes(let bytes): handler.received(bytes.span, from: side, at: time)
            case .void(let count): handler.missed(count, from: side, at: time)
            case .fin: handler.ended(side, isReset: false, at: time)
            case .reset: return
            }
        }
    }

    // MARK: What is missing

    /// Up to where bytes of this side are missing, and since when that is known; nil: none are.
    private func hole(_ side: TCPSide, all: Bool) -> (end: UInt64, since: UInt64, isSure: Bool)? {
        let half = half(side)
        guard let next = half.next, !half.hasEnded else { return nil }
        let first = half.pieces.first
        if let first, first.start <= next { return nil }
        let isAcknowledged = half.acknowledged > next
        // Where the other side was never captured nothing can be acknowledged.
        let isSure = isAcknowledged || first != nil && (self.half(side.other).next == nil || first!.content.isEnd)
        guard isSure || all, first != nil || isAcknowledged else { return nil }
        let end = isAcknowledged ? min(half.acknowledged, first?.start ?? .max) : first?.start ?? next
        return (end, first?.time ?? half.acknowledgedAt, isSure)
    }

    /// Notes whether something is missing.
    private func watch(at time: UInt64) {
        let waits = TCPSide.allCases.contains { !half($0).pieces.isEmpty || hole($0, all: false) != nil }
        if !waits || isOver {
            stall = nil
        } else if stall == nil {
            stall = (time, packets)
        }
    }

    /// Time has passed: gives up what has been missing for too long.
    func passed(to time: UInt64, remember: Int) {
        guard let began = stall else { return }
        let isLate = time > began.time && time - began.time > TCPConversation.patience
        guard isLate || packets - began.packet > TCPConversation.packetPatience else { return }
        while giveUpOne(at: time, all: false, remember) {}
        stall = nil
        watch(at: time)
    }

    /// Gives up one hole.
    /// - Parameter all: whatever may still come.
    private func giveUpOne(at time: UInt64, all: Bool, _ remember: Int) -> Bool {
        guard !isOver else { return false }
        for side in TCPSide.allCases {
            guard let hole = hole(side, all: true) else { continue }
            let age = time > hole.since ? time - hole.since : 0
            let isDue =
                all || age > (hole.isSure ? TCPConversation.patience : TCPConversation.longPatience)
                || hole.isSure && packets - (stall?.packet ?? packets) > TCPConversation.packetPatience
            guard isDue else { continue }
            let count = change(side) { $0.giveUp(to: hole.end) }
            guard count > 0 else { continue }
            handler.missed(count, from: side, at: max(half(side).lastTime, hole.since))
            tell(remember)
            return true
        }
        // Each waits for the other, as no two machines do: the older one goes first. Where one has a hole the other waits for that.
        let waiting = TCPSide.allCases.filter { !half($0).pieces.isEmpty }
        let isKnot = TCPSide.allCases.allSatisfy { since($0) < .max }
        guard isKnot || all, var side = waiting.min(by: { since($0) < since($1) }), since(side) < .max else {
            return false
        }
        if isKnot, let again = [side, side.other].first(where: { known(of: $0) != nil }), let known = known(of: again) {
            side = again
            change(side) { $0.cutFirst(at: known) }
        }
        guard let (content, when) = change(side, { $0.takeNext(remember: remember) }) else { return false }
        told(content, side, at: when)
        tell(remember)
        return true
    }

    /// Where the other side had the beginning of what `side` says next when it sent what waits for that: the segment was sent again
    /// with more behind it, and its beginning goes first. Nil: it had all of it, or nothing.
    private func known(of side: TCPSide) -> UInt64? {
        guard let mine = half(side).pieces.first, let needs = half(side.other).pieces.first?.needs else { return nil }
        return mine.start < needs && needs < mine.end ? needs : nil
    }

    private func since(_ side: TCPSide) -> UInt64 {
        guard let next = half(side).next, let first = half(side).pieces.first, first.start <= next else { return .max }
        return first.time
    }

    /// The capture ends: nothing that is missing will come.
    func finish(remember: Int) {
        while giveUpOne(at: lastTime, all: true, remember) {}
        if !isOver { leave(at: lastTime) }
    }
}
