internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapePlayback
internal import WiretapeWire

/// What becomes of a body that carries messages: a send, or the answer to a poll. It goes out whole, so what happens between
/// its messages happens to all of it.
struct InterceptedBody {
    var bytes: [UInt8] = []
    /// Nanoseconds that it waits.
    var wait: UInt64 = 0
    /// Before it, and behind it.
    var effectsBefore: [FaultEffect] = []
    var effectsAfter: [FaultEffect] = []
    var rule = ""
    /// Bytes of it that go out, those of its head counted.
    var truncated: Int?
    /// Its head tells one byte more than there are.
    var isLengthened = false
    var end: MessageFate.End?
    var lingering: UInt64 = 0

    var isEmpty: Bool { bytes.isEmpty }
    /// What its head tells.
    var length: Int { bytes.count + (isLengthened ? 1 : 0) }

    /// - Parameters:
    ///   - original: the body as it came.
    ///   - parked: messages that let others pass; those whose turn it is come with them.
    ///   - frame: makes a body of a message of ours.
    init(
        _ plan: DeliveryPlan, _ original: [UInt8], _ parked: inout ParkedMessages, at now: WireInstant,
        frame: ([UInt8]) -> [UInt8] = { $0 }
    ) {
        bytes = parked.takeReleased(at: now).flatMap { frame($0.bytes) }
        for step in plan.steps {
            switch step {
            case .wait(let gap): wait += gap
            case .original:
                bytes += original
                pass(&parked, at: now, frame)
            case .payload(let piece, _, _):
                bytes += frame(piece)
                pass(&parked, at: now, frame)
            case .damaged(let piece, _, let damage):
                bytes += frame(piece)
                if damage == .length { isLengthened = true }
            case .reorder(let piece, let opcode, _, let window, let patience):
                parked.park(piece, opcode, window: window, until: now.advanced(by: patience))
            case .truncated(let piece, _, let count):
                truncated = count
                bytes += frame(piece)
            case .effects(let verdicts, let hit):
                if bytes.isEmpty { effectsBefore += verdicts } else { effectsAfter += verdicts }
                rule = hit.name
            case .end(let end, let after):
                self.end = end
                lingering = after
            }
        }
    }

    /// A whole body as it is meant; nil when its content codings cannot be removed, or when it is longer than bodies that are
    /// put together.
    static func plain(_ body: [UInt8], _ headers: [HeaderField]) -> [UInt8]? {
        try? ContentDecoder.whole(body, headers.contentCodings, limit: InterceptedExchange.bodyLimit)
    }

    private mutating func pass(_ parked: inout ParkedMessages, at now: WireInstant, _ frame: ([UInt8]) -> [UInt8]) {
        parked.passed()
        bytes += parked.takeReleased(at: now).flatMap { frame($0.bytes) }
    }
}
