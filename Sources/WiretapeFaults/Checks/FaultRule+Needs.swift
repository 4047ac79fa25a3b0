/// What a rule can only be done to: where that is not, it does not fire.
extension FaultRule {
    /// It damages what only WebSockets have.
    var needsFrames: Bool {
        actions.contains { $0.verdict == .message(.corrupt(.mask)) || $0.verdict == .message(.corrupt(.rsv)) }
    }

    /// It is about the answer to an upgrade.
    var needsUpgrade: Bool { actions.contains { $0.verdict.kind == .upgrade } }

    /// What it does to messages of the client, a server would see.
    package var needsServer: Bool { actions.contains(where: \.verdict.needsServer) }
}
