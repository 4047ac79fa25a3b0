internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

// What a client says over the connections of its session, for the policies about coming back.

extension SessionRun {
    /// Stands for the chains of a group of the script.
    static func speechChain(_ group: Int) -> Chain { Chain("\(group)", origin: .toServer) }

    /// The server's message of that step goes out.
    func answered(_ step: Int) {
        guard let group = script.steps[step].group, script.groups[group].origin == .toServer else { return }
        switch script.steps[step].role {
        case .push: speech.pushed(in: Self.speechChain(group))
        case .reply: speech.answered(Self.speechChain(group))
        case .handshake, .request, .send, .part, .cancel, .keepalive, .ack, .close, .opaque, nil: break
        }
    }

    /// The step that the message would be taken for.
    func counterpart(of message: Message, _ options: ReplayOptions) -> Int? {
        let same = script.equals(Script.key(message, at: place(of: message), ignore: options.ignore))
        return same.first { state[$0] == .waiting || state[$0] == .deferred } ?? same.last
    }

    /// The client has a new connection: pushes that come only to those who have subscribed stay away until it has.
    func holdBack(what hangs: [Expectation.Subscriber]) {
        guard !hangs.isEmpty else { return }
        for index in script.steps.indices where state[index] == .waiting {
            let step = script.steps[index]
            guard step.direction == .toClient, step.role == .push || step.role == .request, step.group == nil,
                let name = script.name(index),
                hangs.contains(where: { $0.pushes.map(name.isNamed) == true && speech.wasSaid($0.name) })
            else { continue }
            state[index] = .abandoned
            heldBack.insert(index)
        }
        guard !heldBack.isEmpty else { return }
        mayComeBack = state.count(of: .abandoned)
        skipSettled()
    }

    /// The client has subscribed again on this connection.
    func bringBack(what pushes: [String]) {
        guard !pushes.isEmpty, !heldBack.isEmpty else { return }
        let back = heldBack.filter { step in
            script.name(step).map { name in pushes.contains { name.isNamed($0) } } ?? false
        }
        guard let first = back.min() else { return }
        heldBack.subtract(back)
        for step in back where state[step] == .abandoned {
            state[step] = .waiting
            mayComeBack = max(0, mayComeBack - 1)
        }
        rewindPositions(to: first)
    }
}

extension Script.Name {
    func isNamed(_ name: String) -> Bool { label == name || channel == name || type == name }
}
