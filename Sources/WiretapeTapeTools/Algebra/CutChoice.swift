package import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol

/// What `wiretape cut` leaves of a tape.
package struct CutChoice: Sendable {
    /// On the tape's clock, in nanoseconds; of later takes, behind the last time of the earlier ones.
    package var from: UInt64 = 0
    package var to: UInt64 = .max
    /// Numbers of sessions; nil: all that have something of what else is chosen.
    package var sessions: Set<Int>?
    /// Names of sessions, beside the numbers.
    package var names: Set<String> = []
    /// Which messages of each session, counted from 1 without handshakes, keepalives and acknowledgements.
    package var messages: ClosedRange<Int>?
    package var selector: Selector?

    package init() {}

    /// Only some of the tape's time.
    var hasTimes: Bool { from > 0 || to < .max }
    /// Only some messages, wherever they stand.
    var hasMessages: Bool { messages != nil || selector != nil }
    var hasSessions: Bool { sessions != nil || !names.isEmpty }

    func isInTime(_ clock: UInt64) -> Bool { clock >= from && clock <= to }

    /// Counts the messages of the sessions while a tape is read, and tells which are chosen.
    struct Counter: Sendable {
        private var messages: [Int: Int] = [:]
        private var occurrences: [Int: Int] = [:]

        /// Whether the message is chosen by itself: neither for its session's sake nor for that of another message.
        mutating func chooses(_ one: DecodedMessage, at clock: UInt64, _ choice: CutChoice) -> Bool {
            switch one.message.role {
            case .handshake: return false
            case .keepalive, .ack: return choice.isInTime(clock) && !choice.hasMessages
            case .request, .send, .reply, .push, .part, .cancel, .close, .opaque: break
            }
            messages[one.session, default: 0] += 1
            var isChosen = choice.isInTime(clock)
            if let range = choice.messages, !range.contains(messages[one.session] ?? 0) { isChosen = false }
            guard let selector = choice.selector else { return isChosen }
            guard selector.matches(one.message) else { return false }
            occurrences[one.session, default: 0] += 1
            return isChosen && selector.occurrence?.contains(occurrences[one.session] ?? 0) ?? true
        }
    }
}
