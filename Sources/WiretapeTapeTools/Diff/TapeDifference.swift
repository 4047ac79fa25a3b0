package import WiretapeProtocol

/// One way in which two tapes tell different conversations.
package struct TapeDifference: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// Both have it, with other content.
        case changed
        /// Only the first has it · only the second.
        case missing, added
        /// Both have it, at another place of the order.
        case moved
    }

    /// What one of the tapes has.
    package struct Side: Hashable, Sendable {
        /// The session's number there; nil for an exchange beside the sessions.
        package var session: Int?
        /// From 1; 0 when there is none.
        package var line: Int
        /// In words: `Invocation Send("ada", "hi")`.
        package var text: String
    }

    package var kind: Kind
    /// `client message 4`, `server message 7`, `ending`, `session`, `exchange`.
    package var what: String
    /// `session 1 (/chat)`, or nothing for what is beside the sessions.
    package var place: String
    package var first: Side?
    package var second: Side?
    /// JSON Pointers of the places that differ within the message; `""`: the whole of it.
    package var pointers: [String] = []
    /// The rules that would let it pass: `Send:/arguments/1`. At most ``most``.
    package var ignore: [IgnoreRule] = []

    /// The same with the tapes in the other order.
    var reversed: TapeDifference {
        var reversed = self
        (reversed.first, reversed.second) = (second, first)
        switch kind {
        case .missing: reversed.kind = .added
        case .added: reversed.kind = .missing
        case .changed, .moved: break
        }
        return reversed
    }

    /// So many places are shown.
    static let most = 4
}
