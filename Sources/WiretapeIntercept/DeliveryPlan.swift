package import WiretapeFaults
internal import WiretapeMessages
package import WiretapePlayback
package import WiretapeProtocol
package import WiretapeWire

/// What becomes of one payload (a WebSocket message, an event, a body) and the messages in it: steps for whoever carries
/// it, in their order.
package struct DeliveryPlan: Sendable {
    package enum Step: Hashable, Sendable {
        /// Everything that follows waits so long.
        case wait(UInt64)
        /// The payload as it came, with all of its messages.
        case original
        /// Messages of it, in frames of ours. `size`: the maximum byte count of a frame. If it is nil, there is one frame.
        case payload([UInt8], Opcode, size: Int? = nil)
        /// A payload with a damaged header.
        case damaged([UInt8], Opcode, Corruption)
        /// The first `bytes` of what would carry the payload, and nothing behind it.
        case truncated([UInt8], Opcode, bytes: Int)
        /// It lets so many messages pass, but waits no longer than `patience` nanoseconds. `size`: the maximum byte count of a frame.
        case reorder([UInt8], Opcode, size: Int?, window: Int, patience: UInt64)
        case effects([FaultEffect], FaultHit)
        /// The connection's end, `after` so many nanoseconds; nothing follows it.
        case end(MessageFate.End, after: UInt64)
    }

    package private(set) var steps: [Step] = []
    /// Whether the payload's own bytes reach the other side in their place.
    package var isOriginal: Bool { steps.contains(.original) }

    /// What the rules say to those of the payload's messages about which they say something.
    package let fates: [MessageFate]
    package var isRuled: Bool { !fates.isEmpty }
    /// Whether there is nothing in it but keepalives that rules leave alone.
    package let isKeepalive: Bool

    private let transport: Transport
    /// Messages that go out together, as long as nothing happens between them.
    private var run: [UInt8] = []

    /// Steps of a payload that nothing happens to. One for all, so that nothing is allocated for them.
    private static let pass: [Step] = [.original]

    /// Nothing happens to the payload.
    package init(untouched payload: JudgedPayload = JudgedPayload()) {
        fates = payload.allFates
        isKeepalive = payload.isKeepalive
        transport = .ws
        steps = DeliveryPlan.pass
    }

    /// - Parameters:
    ///   - judged: the messages of the payload, and what the rules say to them.
    ///   - payload: with their framing.
    ///   - session: the session's codec, which encodes messages that rules add. Nil: they are written as JSON.
    ///   - transport: what carries it.
    ///   - isMuted: the protocol's keepalives to the client are left out.
    package init(
        _ judged: JudgedPayload, _ payload: [UInt8], _ opcode: Opcode,
        _ codec: any FrameCodec.Type, in session: (any FrameCodec)? = nil, on transport: Transport,
        isMuted: Bool = false
    ) {
        fates = judged.allFates
        isKeepalive = judged.isKeepalive
        self.transport = transport
        let messages = judged.messages
        let isSingle = messages.count == 1
        let muted = isMuted && messages.contains(where: DeliveryPlan.isSilenced)
        guard muted || isRuled else {
            steps = DeliveryPlan.pass
            return
        }
        for (place, message) in messages.enumerated() where !(muted && DeliveryPlan.isSilenced(message)) {
            guard let fate = judged.fate(of: place) else {
                run += message.bytes
                continue
            }
            flush(opcode)
            var part = Part(
                message: message, fate: fate, bytes: isSingle ? payload : message.bytes, isWhole: isSingle,
                opcode: opcode, codec: codec, session: session)
            FaultExecutor.carryOut(fate, on: &part, by: &self)
            if fate.end != nil { return }
        }
        flush(opcode)
    }

    private static func isSilenced(_ message: Message) -> Bool {
        message.role == .keepalive && message.direction == .toClient
    }

    private mutating func flush(_ opcode: Opcode) {
        if !run.isEmpty { steps.append(.payload(run, opcode)) }
        run = []
    }
}

extension DeliveryPlan: MessagePort {
    /// A message of the payload that rules have something to say about.
    package struct Part {
        let message: Message
        let fate: MessageFate
        /// With the protocol's framing.
        let bytes: [UInt8]
        /// It is all of the payload.
        let isWhole: Bool
        let opcode: Opcode
        let codec: any FrameCodec.Type
        let session: (any FrameCodec)?
    }

    package mutating func wait(_ gap: UInt64, _ part: inout Part) { steps.append(.wait(gap)) }

    package mutating func inject(_ edit: MessageEdit, _ part: inout Part) {
        var opcode = part.opcode
        let bytes = edit.apply(to: [], &opcode, part.codec, like: nil, in: part.session)
        steps.append(.payload(bytes, opcode))
    }

    package mutating func begin(_ effects: [FaultEffect], _ place: Place, _ part: inout Part) {
        if let hit = part.fate.hits.first { steps.append(.effects(effects, hit)) }
    }

    package mutating func takePayloads(_ part: inout Part) -> [OutboundPayload] {
        var payload = OutboundPayload(part.bytes, part.opcode)
        payload.change(by: part.fate.edits, part.codec, like: part.message, on: transport)
        return [payload]
    }

    package mutating func send(_ payload: OutboundPayload, isCopy: Bool, _ part: inout Part) {
        if let damage = payload.damage {
            steps.append(.damaged(payload.bytes, payload.opcode, damage))
        } else if part.isWhole, !isCopy, !payload.isChanged, payload.frameSize == nil {
            steps.append(.original)
        } else {
            steps.append(.payload(payload.bytes, payload.opcode, size: payload.frameSize))
        }
    }

    package mutating func cut(_ payloads: [OutboundPayload], after count: Int, _ part: inout Part) {
        for payload in payloads { steps.append(.truncated(payload.bytes, payload.opcode, bytes: count)) }
    }

    package mutating func park(_ payload: OutboundPayload, _ reorder: MessageFate.Reorder, _ part: inout Part) {
        steps.append(
            .reorder(
                payload.bytes, payload.opcode, size: payload.frameSize, window: reorder.window,
                patience: reorder.patience))
    }

    package mutating func delivered(_ part: inout Part) {}

    package mutating func lose(_ part: inout Part) {}

    package mutating func finish(_ end: MessageFate.End?, after gap: UInt64, _ part: inout Part) {
        if let end { steps.append(.end(end, after: gap)) }
    }
}
