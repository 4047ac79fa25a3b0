internal import WiretapeBytes

/// What becomes of one request: the rules that fired for it, folded in their order.
package struct RequestFate: Hashable, Sendable {
    package var hits: [FaultHit] = []
    /// Nanoseconds that its answer waits, and everything behind it on the connection.
    package var delay: UInt64 = 0
    /// Before the answer, and behind it.
    package var effectsBefore: [FaultEffect] = []
    package var effectsAfter: [FaultEffect] = []
    /// Bytes of the answer that go out.
    package var truncated: Int?
    package var hasWrongAccept = false
    /// The inner nil: the answer names none.
    package var wrongSubprotocol: String??
    /// In the place of the answer, or behind what is left of one that is truncated.
    package var end: MessageFate.End?
    /// Once the client has the answer.
    package var endAfter: MessageFate.End?

    /// Nil when no rule fired.
    package init?(_ hits: [FaultHit]) {
        guard !hits.isEmpty else { return nil }
        self.hits = hits
        for hit in hits { take(hit) }
    }

    /// Nanoseconds from its effects to its end.
    package var lingering: UInt64 { FaultEffect.lasting(effectsBefore + effectsAfter) }

    /// `instead` when the request does not get its answer, else `after`.
    package var place: Place { end == nil || truncated != nil ? .after : .instead }

    /// What ends the connection before any byte of an answer: nobody has to be asked for one.
    package var endInstead: MessageFate.End? { truncated ?? 0 == 0 ? end : nil }

    /// What ends it behind the answer, or behind what is left of it.
    package var endBehind: MessageFate.End? { truncated == nil ? endAfter : end }

    private mutating func take(_ hit: FaultHit) {
        var random = SplitMix64(seed: hit.random)
        for action in hit.actions {
            switch action.verdict.kind {
            case .message(let change): take(change, hit, &random)
            case .upgrade: spoil(action.verdict)
            case .connection, .session:
                if hit.place == .after {
                    effectsAfter.append(action.verdict)
                } else {
                    effectsBefore.append(action.verdict)
                }
            case .handshake: break
            case .end, .outage, .answer:
                let end = MessageFate.End(verdict: action.verdict, place: hit.place, hit: hit, pause: hit.pause)
                if hit.place == .after, truncated == nil { endAfter = end } else { self.end = end }
            }
        }
    }

    /// What is done to messages can be done to an answer as far as it is one.
    private mutating func take(_ change: MessageChange, _ hit: FaultHit, _ random: inout SplitMix64) {
        switch change.ofAnswer {
        case .delay(let delay): self.delay += delay.draw(&random)
        case .truncate(let count):
            truncated = count
            end = MessageFate.End(verdict: .disconnect, place: .instead, hit: hit)
        case nil: break
        }
    }

    private mutating func spoil(_ upgrade: FaultEffect) {
        if upgrade == .wrongAccept { hasWrongAccept = true }
        if case .wrongSubprotocol(let name) = upgrade { wrongSubprotocol = .some(name) }
    }
}
