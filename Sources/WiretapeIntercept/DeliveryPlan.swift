internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapePlayback
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
        /// Messages of it, in a frame of ours.
        case payload([UInt8], Opcode)
        /// A payload with a damaged header.
        case damaged([UInt8], Opcode, Corruption)
        /// The first `bytes` of what would carry the payload, and nothing behind it.
        case truncated([UInt8], Opcode, bytes: Int)
        /// It lets so many messages pass, but waits no longer than `patience` nanoseconds.
        case reorder([UInt8], Opcode, window: Int, patience: UInt64)
        case effects([FaultEffect], FaultHit)
        /// The connection's end, `after` so many nanoseconds; nothing follows it.
        case end(MessageFate.End, after: UInt64)
    }

    package private(set) var steps: [Step] = []
    /// Whether the payload's own bytes reach the other side in their place.
    package var isOriginal: Bool { steps.contains(.original) }

    private let transport: Transport
    /// Messages that go out together, as long as nothing happens between them.
    private var run: [UInt8] = []

    /// - Parameters:
    ///   - messages: those of the payload, each with what the rules say to it.
    ///   - payload: with their framing.
    ///   - transport: what carries it.
    ///   - isMuted: the protocol's keepalives to the client are left out.
    package init(
        _ messages: [JudgedMessage], _ payload: [UInt8], _ opcode: Opcode,
        _ codec: any FrameCodec.Type, on transport: Transport, isMuted: Bool = false
    ) {
        self.transport = transport
        let isSingle = messages.count == 1
        let muted = isMuted && messages.contains { DeliveryPlan.isSilenced($0.message) }
        guard muted || messages.contains(where: { $0.fate != nil }) else {
            steps = [.original]
            return
        }
        for judged in messages where !(muted && DeliveryPlan.isSilenced(judged.message)) {
            let message = judged.message
            guard let fate = judged.fate else {
                run += message.bytes
                continue
            }
            flush(opcode)
            add(message, fate, isSingle ? payload : message.bytes, isSingle: isSingle, opcode, codec)
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

    private mutating func add(
        _ message: Message, _ fate: MessageFate, _ bytes: [UInt8], isSingle: Bool, _ opcode: Opcode,
        _ codec: any FrameCodec.Type
    ) {
        if fate.delay > 0 { steps.append(.wait(fate.delay)) }
        for edit in fate.injectedBefore { inject(edit, opcode, codec) }
        if let hit = fate.hits.first, !fate.effectsBefore.isEmpty {
            steps.append(.effects(fate.effectsBefore, hit))
        }
        if !fate.isDropped, fate.end?.place != .instead || fate.truncated != nil, fate.end?.place != .before {
            deliver(message, fate, bytes, isSingle: isSingle, opcode, codec)
        }
        for edit in fate.injectedAfter { inject(edit, opcode, codec) }
        if let hit = fate.hits.first, !fate.effectsAfter.isEmpty { steps.append(.effects(fate.effectsAfter, hit)) }
        if fate.pause > 0 { steps.append(.wait(fate.pause)) }
        if let end = fate.end { steps.append(.end(end, after: fate.lingering)) }
    }

    private mutating func deliver(
        _ message: Message, _ fate: MessageFate, _ bytes: [UInt8], isSingle: Bool, _ opcode: Opcode,
        _ codec: any FrameCodec.Type
    ) {
        var bytes = bytes
        var kind = opcode
        var damage: Corruption?
        for edit in fate.edits {
            switch edit {
            case .replace(let change): bytes = change.apply(to: bytes, &kind, codec, like: message)
            case .corrupt(let corruption, let seed):
                if corruption.isOfHeader { damage = corruption }
                var random = SplitMix64(seed: seed)
                corruption.apply(to: &bytes, in: codec.content(of: bytes, on: transport), &random)
            }
        }
        if let count = fate.truncated {
            steps.append(.truncated(bytes, kind, bytes: count))
        } else if let reorder = fate.reorder {
            steps.append(.reorder(bytes, kind, window: reorder.window, patience: reorder.patience))
        } else if let damage {
            steps.append(.damaged(bytes, kind, damage))
        } else {
            steps.append(isSingle && fate.edits.isEmpty ? .original : .payload(bytes, kind))
        }
        for _ in 0..<min(fate.copies, 1_000) { steps.append(.payload(bytes, kind)) }
    }

    private mutating func inject(_ edit: MessageEdit, _ opcode: Opcode, _ codec: any FrameCodec.Type) {
        var kind = opcode
        let bytes = edit.apply(to: [], &kind, codec, like: nil)
        steps.append(.payload(bytes, kind))
    }
}
