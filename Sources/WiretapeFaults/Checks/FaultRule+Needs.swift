/// What a rule can only be done to: where that is not, it does not fire.
extension FaultRule {
    /// It damages what only WebSockets have.
    var needsFrames: Bool {
        actions.contains { $0.verdict == .corrupt(.mask) || $0.verdict == .corrupt(.rsv) }
    }

    /// It is about the answer to an upgrade.
    var needsUpgrade: Bool {
        actions.contains { action in
            switch action.verdict {
            case .wrongAccept, .wrongSubprotocol: true
            default: false
            }
        }
    }

    /// What it does to messages of the client, a server would see.
    package var needsServer: Bool { actions.contains(where: \.needsServer) }
}

extension FaultAction {
    /// Done to a message of the client, only a server would see it.
    package var needsServer: Bool {
        switch verdict {
        case .duplicate, .reorder, .replace, .inject, .corrupt: true
        default: false
        }
    }
}
