internal import WiretapeBytes

/// How long a client may keep us waiting, in nanoseconds; nil: for ever. None of it is about a client that awaits an answer,
/// or about what passes after an upgrade: those may be silent for as long as they like.
package struct ClientLimits: Hashable, Sendable {
    /// From the first byte of a request's head to its last one.
    package var head: UInt64?
    /// Between two pieces of a request's body.
    package var body: UInt64?
    /// Before the first request, and between two.
    package var idle: UInt64?

    /// None, unless given.
    package init(head: UInt64? = nil, body: UInt64? = nil, idle: UInt64? = nil) {
        self.head = head
        self.body = body
        self.idle = idle
    }

    /// The limits as another clock has them.
    package func converted(_ convert: (UInt64) -> UInt64) -> ClientLimits {
        ClientLimits(head: head.map(convert), body: body.map(convert), idle: idle.map(convert))
    }

    /// How long a client may take to end after our last word, when it takes nothing of what it was sent.
    static let leaving: UInt64 = 5_000_000_000
    /// How long one that was not let in may take to read why.
    static let refused: UInt64 = 1_000_000_000

    func limit(of phase: Seat.Phase) -> UInt64? {
        switch phase {
        case .silent, .idle: idle
        case .head: head
        case .body: body
        case .leaving: ClientLimits.leaving
        case .refused: ClientLimits.refused
        case .handshake, .busy: nil
        }
    }

    /// What a client is told that kept us waiting.
    package func reason(_ phase: Seat.Phase) -> String {
        let time = DurationText.spoken(limit(of: phase) ?? 0)
        return switch phase {
        case .head: "the head of the request was not whole after \(time)"
        case .body: "no byte of the request's body came for \(time)"
        case .silent, .idle: "no request for \(time)"
        case .handshake, .leaving, .refused, .busy: "no end after \(time)"
        }
    }
}
