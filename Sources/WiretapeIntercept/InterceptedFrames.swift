internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeWire

/// Makes whole messages of one direction of a WebSocket that rules may touch, and keeps the bytes that carried them: what no
/// rule changes goes on as it came. (`FrameScanner` alone is for connections that pass; `MessageAssembler` is for endpoints,
/// which judge.)
///
/// States: between messages ↔ in a message → spilling (the message is over the limit: its bytes go on as they come, in
/// pieces, until its last frame) → between messages. What is deflated is inflated in slices before anything else is looked at:
/// a piece of a message that spills has gone on by then, and each slice is another one, without bytes of the wire. Lost (a
/// frame that RFC 6455 does not allow, a deflated message that cannot be inflated: everything from there on goes through
/// untouched) is terminal. Holds at most one message of `limit` bytes, deflated and inflated, and one control frame.
package struct InterceptedFrames: ~Copyable {
    /// What is held of one message at most.
    package static let limit = 1 << 20
    /// More may not come out of one piece of a message over the limit.
    private static let spillLimit = 16 << 20
    /// About as much is inflated in one call, so that a small message that inflates to a large one holds nobody up.
    package static let sliceLimit = 16 << 10

    private let limit: Int
    private var reassembler: FrameReassembler
    private var inflater: MessageInflater?

    private var isSpilling = false, hasSpilled = false
    /// Of the message so far: its bytes on the wire, and its payload without masks.
    private var raw: [UInt8] = []
    private var payload: [UInt8] = []
    private var isLost = false
    /// What has not been inflated to its end.
    private var owed: Owed?

    private enum Owed {
        /// A whole message, and what has come out of it so far.
        case message([UInt8])
        /// A piece that went on as it came, and how much has come out of it so far.
        case piece(isLast: Bool, count: Int)
        /// A close frame that came within a message, of which all that was held has gone before it.
        case close(InterceptedControl)
    }

    /// - Parameter deflate: what the peers agreed on, when they did.
    package init(_ direction: Direction, limit: Int = InterceptedFrames.limit, deflate: DeflateParameters? = nil) {
        self.limit = limit
        reassembler = FrameReassembler(direction, isDeflating: deflate != nil, tolerated: .harmless)
        inflater = deflate.map { MessageInflater(direction, $0) }
    }

    /// Whether the next call of ``feed(_:from:)`` has something to do without more bytes: to inflate, or to give a close frame.
    package var owes: Bool { owed != nil }

    /// Whether nothing is held: the last message was whole, and nothing is owed of it.
    package var isResting: Bool { owed == nil && raw.isEmpty && payload.isEmpty && reassembler.heldCount == 0 }

    /// Whether the next byte starts a frame.
    package var isBetweenFrames: Bool { !isLost && owed == nil && !reassembler.isInFrame }

    /// Bytes of what is not whole yet, as they came and without masks.
    package var heldCount: Int {
        let inflated = if case .message(let plain)? = owed { plain.count } else { 0 }
        return raw.count + payload.count + 2 * reassembler.heldCount + inflated
    }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`, also when
    /// `next` is the end of `bytes`.
    package mutating func feed(_ bytes: Span<UInt8>, from: Int) -> InterceptedFound {
        if isLost {
            guard from < bytes.count else { return .more }
            var rest: [UInt8] = []
            rest.append(copying: bytes.extracting(from..<bytes.count))
            return .piece(InterceptedPiece(raw: rest), next: bytes.count)
        }
        if let owed { return settle(owed, from) }
        var at = from
        while true {
            switch reassembler.next(bytes, from: at) {
            case .more: return .more
            case .refusedData(_, _, let next): at = next
            case .refused(_, let next): return lose(next, refused: reassembler.header)
            case .frame(let isFirst, let next):
                at = next
                begin(isFirst)
            case .control(let plain, let next): return endControl(plain, next)
            case .data(let range, let offset, let ends, let next):
                at = next
                let piece = bytes.extracting(range)
                raw.append(copying: piece)
                FrameMask.append(piece, reassembler.header.key, offset: offset, into: &payload)
                let isWhole = ends == .message
                if isWhole, !isSpilling { return endMessage(next) }
                if max(raw.count, payload.count) > limit { isSpilling = true }
                if isSpilling, !raw.isEmpty || isWhole { return spill(isWhole, ends != .nothing, next) }
            }
        }
    }

    private mutating func begin(_ isFirst: Bool) {
        if isFirst {
            isSpilling = false
            hasSpilled = false
        }
        let header = reassembler.header
        let length = Int(min(header.length, 64 << 10))
        raw.reserveCapacity(raw.count + header.byteCount + length)
        payload.reserveCapacity(payload.count + length)
        header.append(to: &raw)
    }

    private mutating func endControl(_ plain: [UInt8], _ next: Int) -> InterceptedFound {
        let header = reassembler.header
        var wire: [UInt8] = []
        header.append(to: &wire)
        FrameMask.append(plain.span, header.key, into: &wire)
        let found = InterceptedControl(opcode: header.opcode, payload: plain, raw: wire)
        guard found.opcode == 8, !raw.isEmpty else { return .control(found, next: next) }
        // The message will never be whole: it goes as it came, where it came.
        let piece = InterceptedPiece(raw: raw, endsFrame: true)
        endOfMessage()
        reassembler.giveUpMessage()
        owed = .close(found)
        return .piece(piece, next: next)
    }

    private mutating func endMessage(_ next: Int) -> InterceptedFound {
        guard !reassembler.isDeflated else {
            beginInflating(isLast: true)
            return inflateMessage([], next)
        }
        return message(payload, next)
    }

    private mutating func message(_ plain: [UInt8], _ next: Int) -> InterceptedFound {
        let message = InterceptedMessage(
            opcode: reassembler.opcode, payload: plain, raw: raw, isDeflated: reassembler.isDeflated)
        endOfMessage()
        return .message(message, next: next)
    }

    /// - Parameter begun: what has come out of the payload before it turned out to be too much.
    private mutating func spill(
        _ isWhole: Bool, _ endsFrame: Bool, _ next: Int, begun: [UInt8]? = nil
    ) -> InterceptedFound {
        var plain = begun ?? payload
        if begun != nil {
            owed = .piece(isLast: isWhole, count: plain.count)
        } else if reassembler.isDeflated {
            plain = []
            beginInflating(isLast: isWhole)
            switch inflate(limit: InterceptedFrames.sliceLimit, into: &plain) {
            case .done: break
            case .tooMuch: owed = .piece(isLast: isWhole, count: plain.count)
            case .bad: return lose(next)
            }
        }
        let piece = InterceptedPiece(
            raw: raw, plain: plain, opcode: reassembler.opcode, isFirst: !hasSpilled, isLast: isWhole && !owes,
            endsFrame: endsFrame)
        hasSpilled = true
        raw = []
        if !owes { endOfPiece(isLast: isWhole) }
        return .piece(piece, next: next)
    }

    /// The next slice, or the close frame.
    private mutating func settle(_ owed: Owed, _ next: Int) -> InterceptedFound {
        self.owed = nil
        switch owed {
        case .message(let plain): return inflateMessage(plain, next)
        case .piece(let isLast, let count): return inflatePiece(isLast: isLast, count, next)
        case .close(let control): return .control(control, next: next)
        }
    }

    private mutating func inflateMessage(_ begun: [UInt8], _ next: Int) -> InterceptedFound {
        var plain = begun
        switch inflate(limit: min(limit, begun.count + InterceptedFrames.sliceLimit), into: &plain) {
        case .done: return message(plain, next)
        case .tooMuch where plain.count > limit:
            isSpilling = true
            return spill(true, true, next, begun: plain)
        case .tooMuch:
            owed = .message(plain)
            return .later(next: next)
        case .bad: return lose(next)
        }
    }

    private mutating func inflatePiece(isLast: Bool, _ begun: Int, _ next: Int) -> InterceptedFound {
        var plain: [UInt8] = []
        var isDone = false
        switch inflate(limit: InterceptedFrames.sliceLimit, into: &plain) {
        case .done: isDone = true
        case .tooMuch: break
        case .bad: return lose(next)
        }
        let count = begun + plain.count
        guard count <= InterceptedFrames.spillLimit else { return lose(next) }
        if !isDone { owed = .piece(isLast: isLast, count: count) }
        let piece = InterceptedPiece(
            raw: [], plain: plain, opcode: reassembler.opcode, isFirst: false, isLast: isDone && isLast, endsFrame: true
        )
        if isDone { endOfPiece(isLast: isLast) }
        return .piece(piece, next: next)
    }

    private mutating func endOfPiece(isLast: Bool) {
        payload = []
        if isLast { endOfMessage() }
    }

    private mutating func endOfMessage() {
        raw = []
        payload = []
        isSpilling = false
    }

    /// Nothing is understood from here on: what is held, and everything that follows, goes through. The head that was
    /// refused, if one was, is the scanner's and not in `raw` yet.
    private mutating func lose(_ next: Int, refused: FrameHeader? = nil) -> InterceptedFound {
        isLost = true
        owed = nil
        var rest = raw
        refused?.append(to: &rest)
        raw = []
        payload = []
        return .piece(InterceptedPiece(raw: rest), next: next)
    }

    /// The stream has ended: what is held of a message, or of a frame, that will never be whole. Nothing comes after it.
    package mutating func takeRest() -> [UInt8] {
        guard !isLost else { return [] }
        let close = if case .close(let control)? = owed { control.raw } else { [UInt8]() }
        let rest = raw + close + reassembler.unfinished
        isLost = true
        owed = nil
        raw = []
        payload = []
        reassembler.restart()
        return rest
    }

    // MARK: Inflating

    /// `payload` is inflated from its beginning on.
    private mutating func beginInflating(isLast: Bool) {
        if isLast { payload += MessageInflater.tail }
        if !hasSpilled { inflater?.begin() }
        used = 0
    }

    /// How much of `payload` the inflater has taken.
    private var used = 0

    /// Inflates until `out` has a byte more than `limit`; the next call goes on there.
    private mutating func inflate(limit: Int, into out: inout [UInt8]) -> MessageInflater.Outcome {
        let packed = payload
        var at = used
        defer { used = at }
        return inflater?.feed(packed.span, used: &at, limit: limit, into: &out) ?? .bad(.misused)
    }
}
