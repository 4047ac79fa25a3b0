internal import WiretapeMessages
internal import WiretapeWire

/// The messages of a script: kept, or read again from the tape when they are asked for.
struct ScriptMessages: Sendable {
    /// By step; those that ``tape`` does not have.
    package var kept: [Int32: Message] = [:]
    /// By step; nil for a script that keeps all of its messages.
    package var all: [Message?]?
    var endings: [Int32: RecordedSession.Ending] = [:]
    /// Frame sizes by step, for WebSocket messages with several frames.
    var frameSizes: [Int32: [Int32]] = [:]
    /// The maximum number of frame sizes that a script stores. A message whose sizes no longer fit is sent in one frame.
    static let mostFrameSizes = 1 << 20
    /// The events that carried the steps.
    package var events: [UInt32] = []
    package var tape: (any PayloadSource)?
    /// Reads a payload out of its context.
    package var codec: (any FrameCodec)?

    package func message(_ step: Int, of script: Script) -> Message? {
        if let all { return all[step] }
        if let message = kept[Int32(clamping: step)] { return message }
        guard let role = script.steps[step].role else { return nil }
        return read(step, role, of: script)
    }

    private func read(_ step: Int, _ role: Role, of script: Script) -> Message {
        let direction = script.steps[step].direction
        guard let found = tape?.event(UInt64(events[step])), var codec,
            case .message(_, let opcode, let payload, _, _) = found.event.kind
        else { return ScriptMessages.lost(direction) }
        let bytes = found.isUnframed ? type(of: codec).framed(payload) : payload
        var decoded: [Message] = []
        codec.decode(bytes.span, opcode, direction, into: &decoded)
        // A payload's keepalives and acknowledgements are no steps.
        decoded.removeAll { $0.role == .keepalive || $0.role == .ack }
        // Nor is what is sent again after a stateful reconnect, which stands before what is new.
        var end = step + 1
        while end < events.count, events[end] == events[step] { end += 1 }
        guard end - step <= decoded.count else { return ScriptMessages.lost(direction) }
        var message = decoded.remove(at: decoded.count - (end - step))
        // What only the messages before it tell.
        message.role = role
        message.label = script.name(step)?.label
        if let chain = message.chain, let group = script.steps[step].group, role != .handshake {
            message.chain = Chain(chain.id, origin: script.groups[group].origin)
        }
        return message
    }

    private static func lost(_ direction: Direction) -> Message {
        .opaque([], direction, reason: "the tape could not be read again")
    }
}
