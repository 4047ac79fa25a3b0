/// permessage-deflate as two peers agreed on it (RFC 7692 section 7.1).
package struct DeflateParameters: Hashable, Sendable {
    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false
    /// 8 to 15.
    package var serverMaxWindowBits = 15
    package var clientMaxWindowBits = 15

    package init() {}

    /// The window that the sender of `direction` uses.
    package func windowBits(_ direction: Direction) -> Int {
        direction == .toServer ? clientMaxWindowBits : serverMaxWindowBits
    }

    /// Whether the sender of `direction` begins each message with an empty window.
    package func resetsContext(_ direction: Direction) -> Bool {
        direction == .toServer ? clientNoContextTakeover : serverNoContextTakeover
    }

    /// What a response's `Sec-WebSocket-Extensions` fields agree on: nil when permessage-deflate is not among them or is
    /// spelled wrongly. Other extensions are ignored.
    package init?(accepted fields: [String]) {
        guard let first = DeflateOffer.all(in: fields).first, let first else { return nil }
        self = first.parameters
    }
}
