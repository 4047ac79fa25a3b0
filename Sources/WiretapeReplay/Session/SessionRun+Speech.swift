internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

// What a client says over the connections of its session, for the policies about coming back.

extension SessionRun {
    /// Stands for the chains of a group of the script.
    static func speechChain(_ group: Int) -> Chain { Chain("\(group)", origin: .toServer) }

    /// The number of earlier sessions in which a message is looked up.
    private static let longestLine = 16

    /// An id for repetitions: equal messages have equal ids, also across recorded reconnects. It combines the client's earliest
    /// session that has the message with the message's step there.
    /// - Parameter key: the matching key of the message.
    func identity(of step: Int, key: @autoclosure () -> UInt64) -> UInt64 {
        var identity = (session: id.place, step: step)
        var earlier = follows
        let key = earlier == nil ? 0 : key()
        for _ in 0..<Self.longestLine {
            guard let session = earlier else { break }
            if let same = session.script.equals(key).first { identity = (session.id.place, same) }
            earlier = session.follows
        }
        return UInt64(identity.session) << 32 | UInt64(identity.step)
    }

    /// The number of acknowledged messages that the client repeated in this session, without those of earlier sessions.
    var repeated: Int { speech.repeated - (follows?.speech.repeated ?? 0) }

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
