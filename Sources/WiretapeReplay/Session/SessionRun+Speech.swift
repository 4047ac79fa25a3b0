internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

// What a client says over the connections of its session, for the policies about coming back.

extension SessionRun {
    /// Stands for the chains of a group of the script.
    static func speechChain(_ group: Int) -> Chain { Chain("\(group)", origin: .toServer) }

    /// The step that the message would be taken for.
    func counterpart(of message: Message, _ options: ReplayOptions) -> Int? {
        cursor.counterpart(ofKey: key(of: message, options))
    }

    /// The client has a new connection: pushes that come only to those who have subscribed stay away until it has.
    func holdBack(what hangs: [Expectation.Subscriber]) {
        guard !hangs.isEmpty else { return }
        let said = speech
        cursor.holdBack { name in
            hangs.contains { $0.pushes.map(name.isNamed) == true && said.wasSaid($0.name) }
        }
    }
}

extension Script.Name {
    func isNamed(_ name: String) -> Bool { label == name || channel == name || type == name }
}
