package import WiretapeMessages
internal import WiretapeWire

/// How a recorded session's client begins: keys of its handshake and of the first message behind it, by which a live
/// client finds the session that it means.
package struct OpeningFingerprint: Hashable, Sendable {
    package var handshake: UInt64?
    /// Nil: the client said nothing more.
    package var first: UInt64?

    /// Nothing more of the client matters.
    private var isOver = false

    package init() {}

    package init(_ session: RecordedSession, ignore: [IgnoreRule]) {
        if let known = session.digested.openingFingerprint {
            self = known
            return
        }
        for message in session.clientMessages where !isOver { add(message, ignore) }
    }

    /// The next message of the client.
    package mutating func add(_ message: Message, _ ignore: [IgnoreRule]) {
        guard !isOver else { return }
        switch message.role {
        case .keepalive, .ack: break
        case .handshake: handshake = OpeningFingerprint.key(message, ignore)
        case .close: isOver = true
        case .request, .send, .reply, .push, .part, .cancel, .opaque:
            first = OpeningFingerprint.key(message, ignore)
            isOver = true
        }
    }

    package static func key(_ message: Message, _ ignore: [IgnoreRule]) -> UInt64 {
        Script.key(message, at: nil, ignore: ignore)
    }
}

extension RecordedSession {
    /// What its client said, in order, one at a time.
    fileprivate var clientMessages: some Sequence<Message> {
        let kept = entries.lazy.compactMap { entry -> Message? in
            guard case .message(let message) = entry.what, message.direction == .toServer else { return nil }
            return message
        }
        let script = digested.script
        let steps = (script?.steps.indices ?? 0..<0).lazy.filter { script?.steps[$0].direction == .toServer }
        return [AnySequence(steps.lazy.compactMap { script?.message($0) }), AnySequence(kept)].lazy.joined()
    }
}
