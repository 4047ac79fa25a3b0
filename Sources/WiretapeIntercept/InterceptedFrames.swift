internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeWire

/// Makes whole messages of one direction of a WebSocket that rules may touch, and keeps the bytes that carried them: what no
/// rule changes goes on as it came. (``FrameScanner`` alone is for connections that pass; ``MessageAssembler`` is for
/// endpoints, which judge.)
///
/// States: between messages ↔ in a message → spilling (the message is over the limit: its bytes go on as they come, in
/// pieces, until its last frame) → between messages. What is deflated is inflated in slices before anything else is looked at:
/// a piece of a message that spills has gone on by then, and each slice is another one, without bytes of the wire. Lost (a frame that RFC 6455 does not allow, a deflated message that
/// cannot be inflated: everything from there on goes through untouched) is terminal. Holds at most one message of
/// `limit` bytes, deflated and inflated, and one control frame.
package struct InterceptedFrames: ~Copyable {
    /// What is held of one message at most.
    package static let limit = 1 << 20
    /// More may not come out of one piece of a message over the limit.
    private static let spillLimit = 16 << 20
    /// About as much is inflated in one call, so that a small message that inflates to a large one holds nobody up.
    package static let sliceLimit = 16 << 10

    private let limit: Int
    private let isDeflating: Bool
    private let resetsInflater: Bool
    private let windowBits: Int
    private var inflater: Inflater?
    private var scanner = FrameScanner()
    private var header = FrameHeader(first: 0, second: 0, length: 0, key: 0)
    private var role = Role.data

    private var opcode: Opcode?
    private var isDeflated = false
    private var isSpilling = false, hasSpilled = false
    /// Of the message so far: its bytes on the wire, and its payload without masks.
    private var raw: [UInt8] = []
    private var payload: [UInt8] = []
    private var controlRaw: [UInt8] = []
    private var control: [UInt8] = []
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

    private enum Role { case data, control }

    /// - Parameter deflate: what the peers agreed on, when they did.
    package init(_ direction: Direction, limit: Int = InterceptedFrames.limit, deflate: DeflateParameters? = nil) {
        self.limit = limit
        isDeflating = deflate != nil
        resetsInflater = deflate?.resetsContext(direction) ?? false
        windowBits = deflate?.windowBits(direction) ?? 15
    }

    /// Whether the next call of ``feed(_:from:)`` has something to do without more bytes: to inflate, or to give a close frame.
    package var owes: Bool { owed != nil }

    /// Bytes of what is not whole yet, as they came and without masks.
    package var heldCount: Int {
        let inflated = if case .message(let plain)? = owed { plain.count } else { 0 }
        return raw.count + payload.count + controlRaw.count + control.count + inflated
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
            switch scanner.scan(bytes, from: at) {
            case .more: return .more
            case .header(let header, let next):
                at = next
                self.header = header
                guard begin() else { return lose(at, refused: header) }
            case .payload(let range, let offset, let last, let next):
                at = next
                let piece = bytes.extracting(range)
                if role == .control {
                    controlRaw.append(copying: piece)
                    FrameMask.append(piece, header.key, offset: offset, into: &control)
                    if last { return endControl(next) }
                } else {
                    raw.append(copying: piece)
                    FrameMask.append(piece, header.key, offset: offset, into: &payload)
                    let isWhole = last && header.fin
                    if isWhole, !isSpilling { return endMessage(next) }
                    if max(raw.count, payload.count) > limit { isSpilling = true }
                    if isSpilling, !raw.isEmpty || isWhole { return spill(isWhole, last, next) }
                }
            }
        }
    }

    /// Takes the head of a frame; false when RFC 6455 does not allow it there.
    private mutating func begin() -> Bool {
        guard header.length < 1 << 63 else { return false }
        if header.isControl {
            guard header.opcode <= 10, header.fin, header.length <= 125, header.first & 0x70 == 0 else { return false }
            role = .control
            header.append(to: &controlRaw)
            return true
        }
        guard !header.rsv2, !header.rsv3 else { return false }
        switch (header.opcode, opcode) {
        case (0, .some):
            guard !header.rsv1 else { return false }
        case (1, nil), (2, nil):
            guard !header.rsv1 || isDeflating else { return false }
            opcode = header.opcode == 1 ? .text : .binary
            isDeflated = header.rsv1
            isSpilling = false
            hasSpilled = false
        default: return false
        }
        role = .data
        let length = Int(min(header.length, 64 << 10))
        raw.reserveCapacity(raw.count + header.byteCount + length)
        payload.reserveCapacity(payload.count + length)
        header.append(to: &raw)
        return true
    }

    private mutating func endControl(_ next: Int) -> InterceptedFound {
        defer {
            controlRaw = []
            control = []
        }
        let found = InterceptedControl(opcode: header.opcode, payload: control, raw: controlRaw)
        guard found.opcode == 8, !raw.isEmpty else { return .control(found, next: next) }
        // The message will never be whole: it goes as it came, where it came.
        let piece = InterceptedPiece(raw: raw, endsFrame: true)
        endOfMessage()
        owed = .close(found)
        return .piece(piece, next: next)
    }

    private mutating func endMessage(_ next: Int) -> InterceptedFound {
        guard !isDeflated else {
            beginInflating(isLast: true)
            return inflateMessage([], next)
        }
        return message(payload, next)
    }

    private mutating func message(_ plain: [UInt8], _ next: Int) -> InterceptedFound {
        let message = InterceptedMessage(opcode: opcode ?? .binary, payload: plain, raw: raw, isDeflated: isDeflated)
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
        } else if isDeflated {
            plain = []
            beginInflating(isLast: isWhole)
            switch inflate(limit: InterceptedFrames.sliceLimit, into: &plain) {
            case .done: break
            case .tooMuch: owed = .piece(isLast: isWhole, count: plain.count)
            case .bad: return lose(next)
            }
        }
        let piece = InterceptedPiece(
            raw: raw, plain: plain, opcode: opcode ?? .binary, isFirst: !hasSpilled, isLast: isWhole && !owes,
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
            raw: [], plain: plain, opcode: opcode ?? .binary, isFirst: false, isLast: isDone && isLast, endsFrame: true)
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
        opcode = nil
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
        let rest = raw + close + controlRaw + scanner.partialHeader
        isLost = true
        owed = nil
        raw = []
        payload = []
        controlRaw = []
        control = []
        return rest
    }

    // MARK: Inflating

    private enum Inflated { case done, tooMuch, bad }

    /// `payload` is inflated from its beginning on.
    private mutating func beginInflating(isLast: Bool) {
        if isLast { payload += [0, 0, 0xff, 0xff] }
        if inflater == nil {
            inflater = Inflater(.raw(windowBits: windowBits))
        } else if resetsInflater, !hasSpilled {
            inflater?.reset()
        }
        used = 0
    }

    /// How much of `payload` the inflater has taken.
    private var used = 0

    /// Inflates until `out` has a byte more than `limit`; the next call goes on there.
    private mutating func inflate(limit: Int, into out: inout [UInt8]) -> Inflated {
        let packed = payload
        var at = used
        defer { used = at }
        while true {
            // One byte more than allowed tells that there is too much.
            switch inflater?.feed(packed.span, used: &at, limit: max(1, limit - out.count + 1), into: &out) {
            case .more: return out.count > limit ? .tooMuch : .done
            case .full: return .tooMuch
            case .end:
                // A final block: the next one may follow within the message.
                if out.count > limit { return .tooMuch }
                if at == packed.count { return .done }
            case .bad, nil: return .bad
            }
        }
    }
}
