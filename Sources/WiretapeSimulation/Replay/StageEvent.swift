internal import WiretapeReplay

/// What happens on an ``EngineStage``.
enum StageEvent: Sendable {
    case wake(client: Int)
    /// A plain request beside the clients' sessions is made.
    case asks(PlainRequest)
    /// Something of the client reaches the server; `order` counts what it sent on that connection.
    case up(ConnectionID, ClientAction, order: Int)
    /// The kernel takes the next thing that the server sent.
    case taken(ConnectionID)
    case delivered(ConnectionID, StageItem)
    case acknowledged(ConnectionID, ticket: UInt64, complete: Bool)
    /// The client had left, and its kernel answered with an RST.
    case wasGone(ConnectionID)
    /// What a mutant holds back.
    case delayed(ReplayAction)
}

/// Something on its way to a client.
struct StageItem: Sendable {
    /// Nil: only the wish to know when everything before it is there.
    var event: ClientEvent?
    /// Of the send, or of that wish.
    var ticket: UInt64?
    /// The lines of the conversation that it carries.
    var lines: [Int] = []
    /// The line of the tape's ending that it is.
    var ending: Int?
}

extension ClientAction {
    var sayings: [Saying] {
        switch self {
        case .request(_, _, _, let sayings), .message(_, _, _, let sayings): sayings
        case .closeFrame, .end: []
        }
    }
}
