internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What servers of `graphql-transport-ws` insist on. The reasons are those of graphql-ws's server.
struct GraphQLRules: ConnectionRules {
    private var isOpened = false
    private var isAcknowledged = false
    private var active: Set<Chain> = []

    mutating func heard(_ message: Message) -> RuleBreach? {
        switch message.role {
        case .opaque, .close: return RuleBreach(4400, "Invalid message received")
        case .handshake:
            if isOpened { return RuleBreach(4429, "Too many initialisation requests") }
            isOpened = true
        case .request:
            guard isAcknowledged else { return RuleBreach(4401, "Unauthorized") }
            guard let chain = message.chain else { return nil }
            guard active.insert(chain).inserted else {
                return RuleBreach(4409, "Subscriber for \(GraphQLID.value(chain.id).string ?? chain.id) already exists")
            }
        case .cancel:
            if let chain = message.chain { active.remove(chain) }
        case .send, .reply, .push, .part, .keepalive, .ack: break
        }
        return nil
    }

    mutating func said(_ message: Message, on chain: Chain?) {
        if message.role == .handshake { isAcknowledged = true }
        guard message.kind == "error" || message.kind == "complete", let chain else { return }
        active.remove(chain)
    }
}
