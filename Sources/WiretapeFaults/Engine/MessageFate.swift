internal import WiretapeBytes

/// What is done to one message, or beside it. A new one needs its row in ``traits`` and its line in ``MessageFate``, which folds
/// it; who checks, tells and places rules asks for the traits.
package enum MessageChange: Hashable, Sendable {
    case delay(Delay)
    case drop
    /// So many further copies.
    case duplicate(Int)
    /// It lets so many messages pass, but waits no longer than `patience` nanoseconds.
    case reorder(window: Int, patience: UInt64)
    case replace(MessageEdit)
    case inject(MessageEdit)
    case corrupt(Corruption)
    /// The message is sent in WebSocket frames of at most this many bytes.
    case fragment(Int)
    /// Only so many bytes of what carries it, then the end.
    case truncate(Int)

    var traits: Traits {
        switch self {
        case .delay: Traits(target: .anything)
        case .drop: Traits(target: .messageOrEnd, changesCounts: true, losesMessage: true)
        case .duplicate: Traits(isContent: true, needsServer: true, changesCounts: true)
        case .reorder: Traits(needsServer: true)
        case .replace, .corrupt, .fragment: Traits(isContent: true, needsServer: true)
        case .inject:
            Traits(
                target: .messageOrMoment, isOfMessage: false, needsServer: true, changesCounts: true,
                takesItsPlace: true)
        case .truncate: Traits(target: .messageOrAnswer)
        }
    }

    /// What is true of a change, whatever its arguments are.
    struct Traits: Sendable {
        /// What it can be done to.
        var target = Target.message
        /// Whether it is done to a message itself, and not to what is around it.
        var isOfMessage = true
        /// Whether it says what the other side gets of the message.
        var isContent = false
        /// Whether only a server would see it, done to a message of the client.
        var needsServer = false
        /// Whether there are more or fewer messages where it was done.
        var changesCounts = false
        /// Whether nothing of the message reaches the other side.
        var losesMessage = false
        /// Whether it takes the message's place when the rule says `instead of`.
        var takesItsPlace = false
    }

    enum Target: Hashable, Sendable { case message, messageOrAnswer, messageOrEnd, messageOrMoment, anything }

    /// What it does to the answer to a request; nil: nothing.
    var ofAnswer: AnswerChange? {
        switch self {
        case .delay(let delay): .delay(delay)
        case .truncate(let count): .truncate(count)
        case .drop, .duplicate, .reorder, .replace, .inject, .corrupt, .fragment: nil
        }
    }

    enum AnswerChange {
        case delay(Delay)
        case truncate(Int)
    }
}

/// What becomes of one message: the rules that fired for it, folded in their order. Carried out like this: wait ``delay``;
/// what is to go before it; the message with its ``edits`` (unless it is dropped), or so many bytes of it; its copies; what
/// goes behind it; the end.
package struct MessageFate: Hashable, Sendable {
    package var hits: [FaultHit] = []
    /// Nanoseconds that it waits, and everything behind it in its direction with it, keepalives left aside.
    package var delay: UInt64 = 0
    /// Nanoseconds that what follows it waits.
    package var pause: UInt64 = 0
    package var isDropped = false
    package var copies = 0
    package var reorder: Reorder?
    package var edits: [Edit] = []
    package var injectedBefore: [MessageEdit] = []
    package var injectedAfter: [MessageEdit] = []
    package var effectsBefore: [FaultEffect] = []
    package var effectsAfter: [FaultEffect] = []
    /// Bytes of it that still go out.
    package var truncated: Int?
    package var end: End?

    /// It lets so many messages pass, but waits no longer than `patience` nanoseconds.
    package struct Reorder: Hashable, Sendable {
        package var window: Int
        package var patience: UInt64
    }

    package enum Edit: Hashable, Sendable {
        case replace(MessageEdit)
        /// `random`: the seed of what the damage draws.
        case corrupt(Corruption, random: UInt64)
        /// WebSocket frames of at most this many bytes.
        case fragment(Int)
    }

    /// The end of its connection, and to whose account it goes.
    package struct End: Hashable, Sendable {
        package var verdict: FaultEffect
        /// `instead`: the message is lost with it.
        package var place: Place
        package var hit: FaultHit
        /// The rule's pause, in nanoseconds. It follows the acknowledgement and the settle time.
        package var pause: UInt64 = 0

        /// Whether anything ends by it; not when only new connections are refused.
        package var cutsConnections: Bool {
            if case .outage(let outage) = verdict { outage.cut != .none } else { true }
        }
    }

    /// Nil when no rule fired.
    package init?(_ hits: [FaultHit]) {
        guard !hits.isEmpty else { return nil }
        self.hits = hits
        for hit in hits { take(hit) }
    }

    /// Nanoseconds from its effects to its end: what lasts for a while goes on for that long.
    package var lingering: UInt64 { FaultEffect.lasting(effectsBefore + effectsAfter) }

    /// Whether the message as such does not reach the other side.
    package var isLost: Bool { isDropped || truncated != nil || end?.place == .instead }

    /// Whether it goes out as it came, and nothing of its own happens to it before the end.
    package var isPlain: Bool { !isLost && copies == 0 && reorder == nil && edits.isEmpty }

    /// What a rule changes before it ends the connection still goes out: the end comes behind it.
    private func place(of hit: FaultHit) -> Place {
        guard truncated == nil else { return .instead }
        return hit.place == .instead && hit.actions.contains(where: \.verdict.isContent) ? .after : hit.place
    }

    private mutating func take(_ hit: FaultHit) {
        var random = SplitMix64(seed: hit.random)
        var pause = hit.pause
        for action in hit.actions {
            switch action.verdict.kind {
            case .message(.delay(let delay)) where hit.place == .after && hit.ending != nil:
                pause += delay.draw(&random)
            case .message(let change): take(change, hit, &random)
            case .connection, .session:
                if hit.place == .after {
                    effectsAfter.append(action.verdict)
                } else {
                    effectsBefore.append(action.verdict)
                }
                if hit.place == .instead { isDropped = true }
            case .upgrade, .handshake: break
            case .end, .outage, .answer:
                end = End(verdict: action.verdict, place: place(of: hit), hit: hit, pause: pause)
            }
        }
    }

    private mutating func take(_ change: MessageChange, _ hit: FaultHit, _ random: inout SplitMix64) {
        switch change {
        case .delay(let delay):
            let drawn = delay.draw(&random)
            if hit.place == .after { pause += drawn } else { self.delay += drawn }
        case .drop: isDropped = true
        case .duplicate(let count): copies += count
        case .reorder(let window, let patience): reorder = Reorder(window: window, patience: patience)
        case .replace(let edit): edits.append(.replace(edit))
        case .corrupt(let corruption): edits.append(.corrupt(corruption, random: random.next()))
        case .fragment(let size): edits.append(.fragment(size))
        case .inject(let edit):
            switch hit.place {
            case .before: injectedBefore.append(edit)
            case .after: injectedAfter.append(edit)
            case .instead:
                injectedBefore.append(edit)
                isDropped = true
            }
        case .truncate(let count):
            truncated = count
            end = End(verdict: .disconnect, place: .instead, hit: hit)
        }
    }
}
