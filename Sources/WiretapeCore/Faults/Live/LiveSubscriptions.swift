/// What a client has asked for and still gets, over all connections of its session: subscriptions to channels, and
/// requests that are answered by streams. What a lost connection took away is owed until the client asks for it again.
/// At most 1,024 of each are kept.
package struct LiveSubscriptions: Sendable {
    private static let most = 1_024

    private struct Subscription: Sendable {
        /// Equal for equal requests, whatever their ids.
        var key: String
        var chain: Chain?
        /// Of a channel: its server's answer is not the end of it.
        var isStanding: Bool
        /// It is one by its type, or its answer has turned out to be a stream.
        var lasts: Bool
    }

    private var open: [Subscription] = []
    /// Lost with the last connection: a client that does not come back owes nothing.
    private var gone: [Subscription] = []
    private var owed: [Subscription] = []

    package init() {}

    /// How many of those that were lost a client that came back has not asked for again.
    package var forgotten: Int { owed.count }

    /// - Parameter subscribes: ``FrameCodec/subscribes(_:)``.
    package mutating func heard(_ message: Message, subscribes: Bool) {
        switch (message.direction, message.role) {
        case (.toServer, .request):
            let key = message.matchKey
            if let i = owed.firstIndex(where: { $0.key == key }) { owed.remove(at: i) }
            guard open.count < Self.most else { return }
            open.append(
                Subscription(
                    key: key, chain: message.chain, isStanding: subscribes && message.channel != nil, lasts: subscribes)
            )
        case (.toServer, .cancel):
            guard let chain = message.chain else { return }
            open.removeAll { $0.chain == chain }
            // What it does not want any more it does not have to ask for.
            owed.removeAll { $0.isStanding && $0.chain == chain }
        case (.toClient, .push):
            guard let chain = message.chain else { return }
            for i in open.indices where open[i].chain == chain { open[i].lasts = true }
        case (.toClient, .reply):
            guard let chain = message.chain else { return }
            open.removeAll { $0.chain == chain && !$0.isStanding }
        default: break
        }
    }

    /// The connection is over.
    package mutating func lost() {
        gone = open.filter { $0.lasts }
        open = []
    }

    /// The client has a connection.
    package mutating func connected() {
        owed += gone.prefix(Self.most - min(owed.count, Self.most))
        gone = []
    }
}
