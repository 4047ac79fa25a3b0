package import WiretapeFaults
package import WiretapeMessages
internal import WiretapeProtocol

/// The messages of a payload of live traffic, and what rules say of them: nothing, mostly.
package struct JudgedPayload: Sendable {
    package let messages: [Message]
    /// By the message's place.
    private var fates: [Int: MessageFate] = [:]

    package init(_ messages: [Message] = []) { self.messages = messages }

    package mutating func judge(_ place: Int, _ fate: MessageFate?) {
        if let fate { fates[place] = fate }
    }

    package func fate(of place: Int) -> MessageFate? { fates[place] }

    /// Whether they say something.
    package var isRuled: Bool { !fates.isEmpty }

    /// In the order of their messages.
    package var allFates: [MessageFate] {
        fates.isEmpty ? [] : fates.keys.sorted().compactMap { fates[$0] }
    }

    /// Whether there is nothing in it but keepalives that rules leave alone. (By place: a message is not copied for it.)
    package var isKeepalive: Bool {
        fates.isEmpty && !messages.isEmpty && messages.indices.allSatisfy { messages[$0].role == .keepalive }
    }
}
