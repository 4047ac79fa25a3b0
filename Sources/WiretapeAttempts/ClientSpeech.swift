internal import WiretapeBytes
package import WiretapeMessages
internal import WiretapeWire

/// What a client says of its own accord over all connections of its session, as far as policies about coming back ask for
/// it: what it has subscribed to, what was acknowledged, and which of both it said again on a later connection.
///
/// A request is acknowledged by the answer that ends its chain, a message that nobody answers by its arrival. What a lost
/// connection took away (subscriptions, streams, requests without an answer) is owed once the client is back, until it
/// says that again. At most 1,024 open requests, 1,024 owed ones and the last 16,384 acknowledged ones are kept.
package struct ClientSpeech: Hashable, Sendable {
    private static let most = 1_024
    private static let mostAcknowledged = 16_384

    /// A message as policies name it.
    package struct Saying: Hashable, Sendable {
        /// Equal for what counts as the same message said again.
        package var identity: UInt64
        private var summary: String
        package var label: String?
        package var type: String
        package var channel: String?

        package init(_ message: Message, identity: UInt64) {
            self.identity = identity
            summary = message.summary
            label = message.label
            type = message.type
            channel = message.channel
        }

        /// For people: `Invocation Send("ada", "hi")`.
        package var title: String { Summary.line(Message.title(type, summary)) }

        /// As the selector of a rule names messages that bring something: by label, channel or type.
        package func isNamed(_ name: String) -> Bool { label == name || channel == name || type == name }
    }

    /// What a client asks for: a request that goes on, or a message that policies name as a subscription.
    package struct Ask: Hashable, Sendable {
        package var saying: Saying
        fileprivate var chain: Chain?
        /// A channel, which goes on behind the server's answer.
        fileprivate var isStanding = false
        /// It subscribes by its type, or its answer has turned out to be a stream.
        package fileprivate(set) var isSubscription: Bool
        /// The request does not tell whether it subscribes, and no answer has shown it.
        package fileprivate(set) var isUnclear = false
        /// A policy names it as one that subscribes.
        package fileprivate(set) var isWatched: Bool
        package fileprivate(set) var isAcknowledged = false
        /// A rule dropped the message, so the server never received it.
        fileprivate var isTaken = false
    }

    /// Something acknowledged that came again on a later connection.
    package struct Repeat: Hashable, Sendable {
        package var saying: Saying
        /// The connections of the session, counted from 1.
        package var first: Int
        package var again: Int
    }

    /// The session's current connection, counted from 1. A SignalR stateful reconnect keeps the number, because the protocol itself
    /// resends lost messages.
    package private(set) var connection = 1
    private var open: [Ask] = []
    /// Watched ones that were answered: they hold as long as their connection.
    private var standing: [Ask] = []
    /// Lost with the last connection: a client that does not come back owes nothing.
    private var gone: [Ask] = []
    /// What the client has not said again since it came back.
    package private(set) var owed: [Ask] = []
    /// Subscriptions that the server kept across the reconnect. The client may send them again, but it does not have to.
    private var kept: [Ask] = []
    /// Messages that the client sent again after a reconnect: those that were owed, and kept subscriptions.
    package private(set) var paid: [Ask] = []
    /// Acknowledged messages by identity, and the connection of their last acknowledgement; the oldest first.
    private var acknowledged: [UInt64: Int] = [:]
    private var acknowledgedOrder: [UInt64] = []
    /// The first that was acknowledged of each label, channel and type.
    private var firstAcknowledged: [String: Int] = [:]
    /// The name that ``noteFirst(_:)`` noted last. Most messages have the same one.
    private var lastNoted: String?
    package private(set) var repeats: [Repeat] = []
    /// Those beyond the first 1,024 counted, too.
    package private(set) var repeated = 0
    /// What the client said, by label, else type: for hints.
    package private(set) var names: [String: Int] = [:]
    /// All labels, channels and types of it.
    private var spoken: Set<String> = []
    /// Of its last type: that stands in `spoken`.
    private var lastSpoken = ""
    /// More was open at a time than is kept.
    package private(set) var isCutShort = false
    private var opening = OpeningWords()

    package init() {}

    // MARK: The client

    /// A message of the client that opens something or stands by itself.
    /// - Parameters:
    ///   - identity: ``Saying/identity``.
    ///   - chain: what brings its answers; nil when nobody answers.
    ///   - subscribes: the protocol knows it as a subscription; nil: the request does not tell.
    ///   - isWatched: a policy names it as one.
    ///   - arrives: no rule takes it away.
    package mutating func said(
        _ message: Message, identity: UInt64, chain: Chain?, subscribes: Bool?, isWatched: Bool, arrives: Bool = true
    ) {
        count(message)
        opening.said(message, identity: identity, isSubscription: subscribes == true, on: connection)
        let isSame = { (ask: Ask) in ask.saying.identity == identity }
        if let i = owed.firstIndex(where: isSame) {
            pay(owed.remove(at: i))
        } else if let i = kept.firstIndex(where: isSame) {
            pay(kept.remove(at: i))
            // The new message takes the place of the one that the server kept.
            open.removeAll(where: isSame)
        } else if connection > 1, !isWatched, let first = acknowledged[identity], first < connection {
            repeated += 1
            if repeats.count < Self.most {
                repeats.append(Repeat(saying: Saying(message, identity: identity), first: first, again: connection))
            }
        }
        if chain == nil, arrives {
            acknowledge(identity, message.label, message.channel, message.type)
            guard isWatched else { return }
        }
        let saying = Saying(message, identity: identity)
        var ask = Ask(saying: saying, chain: chain, isSubscription: subscribes == true, isWatched: isWatched)
        ask.isUnclear = subscribes == nil
        ask.isTaken = !arrives
        ask.isStanding = subscribes == true && saying.channel != nil && chain != nil
        guard chain == nil, arrives else { return keep(ask) }
        ask.isAcknowledged = true
        stand(ask)
    }

    /// The client sends the message on another connection of its own, beside this one.
    package mutating func sentElsewhere(_ message: Message, identity: UInt64, subscribes: Bool?) {
        opening.said(message, identity: identity, isSubscription: subscribes == true, on: connection)
        if let i = owed.firstIndex(where: { $0.saying.identity == identity }) { pay(owed.remove(at: i)) }
        gone.removeAll { $0.saying.identity == identity }
    }

    /// The client cuts a chain short: what it does not want any more it does not have to ask for.
    package mutating func cancelled(_ chain: Chain) {
        open.removeAll { $0.chain == chain }
        owed.removeAll { $0.isStanding && $0.chain == chain }
    }

    // MARK: The server

    /// A message of the server has reached the client.
    package mutating func heard(_ role: Role) { opening.heard(role) }

    /// An item of the chain: it is a stream.
    package mutating func pushed(in chain: Chain) {
        for i in open.indices where open[i].chain == chain {
            open[i].isSubscription = true
            open[i].isUnclear = false
            open[i].isAcknowledged = true
        }
    }

    /// The answer that ends the chain, but for a channel, which goes on.
    package mutating func answered(_ chain: Chain) {
        guard let i = open.firstIndex(where: { $0.chain == chain }) else { return }
        if open[i].isStanding {
            open[i].isAcknowledged = true
            return
        }
        var ask = open.remove(at: i)
        ask.isAcknowledged = true
        acknowledge(ask.saying.identity, ask.saying.label, ask.saying.channel, ask.saying.type)
        // A stream that has come to its end is nothing to ask for again.
        if ask.isWatched, !ask.isSubscription { stand(ask) }
    }

    // MARK: Connections

    /// The connection is over.
    package mutating func lost() {
        gone += open + standing
        open = []
        standing = []
        if gone.count > Self.most {
            gone.removeFirst(gone.count - Self.most)
            isCutShort = true
        }
    }

    /// The client has a connection on which everything begins anew.
    package mutating func returned() {
        connection += 1
        opening.returned()
        kept = []
        owed += gone
        gone = []
        if owed.count > Self.most {
            owed.removeFirst(owed.count - Self.most)
            isCutShort = true
        }
    }

    /// The client goes on over a connection on which the protocol takes up everything that was open.
    package mutating func resumed() {
        for ask in gone {
            if ask.isAcknowledged, !ask.isSubscription { standing.append(ask) } else { open.append(ask) }
        }
        gone = []
    }

    /// The client asks for the rest of everything that was open, instead of sending its requests again.
    package mutating func resumedStreams() {
        for ask in owed {
            pay(ask)
            keep(ask)
        }
        owed = []
    }

    /// The client resumes its session on a new connection, and the server kept every message that it received. The client owes only
    /// the messages that rules dropped.
    package mutating func wentOn() {
        connection += 1
        owed += gone.filter(\.isTaken)
        gone.removeAll(where: \.isTaken)
        kept = gone.filter { $0.isWatched || $0.isSubscription }
        resumed()
    }

    /// The same client's record at the start of its next recorded session. Everything that was open when the connection was lost is
    /// owed. Chains are removed, because the next session numbers its own.
    package func continued() -> ClientSpeech {
        var next = self
        next.lost()
        for i in next.gone.indices { next.gone[i].chain = nil }
        next.returned()
        return next
    }

    /// The server has forgotten everything: what was acknowledged counts for nothing.
    package mutating func forget() {
        acknowledged = [:]
        acknowledgedOrder = []
        firstAcknowledged = [:]
        lastNoted = nil
    }

    /// Each request of the session has a connection of its own: no request is what a connection begins with.
    package mutating func hasNoOpening() { opening.isNone() }

    // MARK: Asking

    /// What the first connection began with and the client has not sent on its current connection, which is a later one.
    package var unrepeatedOpening: [OpeningWords.Word] {
        opening.unrepeated.filter { word in
            // A subscription that has ended, or that the client has cancelled, is not owed.
            !word.isSubscription || owed.contains { $0.saying.identity == word.saying.identity }
        }
    }

    /// Whether the last connection took something away.
    package var hasLost: Bool { !gone.isEmpty }

    /// Whether such a message was acknowledged on an earlier connection than the current one.
    package func wasAcknowledged(before name: String) -> Bool {
        firstAcknowledged[name].map { $0 < connection } ?? false
    }

    package func wasSaid(_ name: String) -> Bool { spoken.contains(name) }

    // MARK: Keeping

    private mutating func pay(_ ask: Ask) {
        if paid.count < Self.most { paid.append(ask) }
    }

    private mutating func keep(_ ask: Ask) {
        guard open.count < Self.most else { return isCutShort = true }
        open.append(ask)
    }

    private mutating func stand(_ ask: Ask) {
        standing.removeAll { $0.saying.identity == ask.saying.identity }
        guard standing.count < Self.most else { return isCutShort = true }
        standing.append(ask)
    }

    private mutating func acknowledge(_ identity: UInt64, _ label: String?, _ channel: String?, _ type: String) {
        if let label { noteFirst(label) }
        if let channel { noteFirst(channel) }
        noteFirst(type)
        if acknowledged.updateValue(connection, forKey: identity) == nil {
            acknowledgedOrder.append(identity)
        }
        guard acknowledgedOrder.count > Self.mostAcknowledged else { return }
        for old in acknowledgedOrder.prefix(Self.mostAcknowledged / 2) { acknowledged[old] = nil }
        acknowledgedOrder.removeFirst(Self.mostAcknowledged / 2)
    }

    private mutating func noteFirst(_ name: String) {
        guard name != lastNoted, firstAcknowledged.count < Self.most else { return }
        lastNoted = name
        guard firstAcknowledged[name] == nil else { return }
        firstAcknowledged[name] = connection
    }

    private mutating func count(_ message: Message) {
        guard names.count < Self.most else { return }
        names[message.label ?? message.type, default: 0] += 1
        // Most messages are called as the one before them.
        guard message.type != lastSpoken || message.label != nil || message.channel != nil else { return }
        lastSpoken = message.type
        spoken.insert(message.type)
        if let label = message.label { spoken.insert(label) }
        if let channel = message.channel { spoken.insert(channel) }
    }
}

extension ClientSpeech {
    /// What passes on live traffic, whose messages are the same when their meaning is.
    /// - Parameters:
    ///   - subscribes: ``FrameCodec/isSubscription(_:)``.
    ///   - arrives: no rule takes it away.
    package mutating func passed(_ message: Message, subscribes: Bool?, isWatched: Bool = false, arrives: Bool = true) {
        if message.direction == .toClient, arrives { heard(message.role) }
        switch (message.direction, message.role) {
        case (.toServer, .request), (.toServer, .send):
            said(
                message, identity: message.matchHash, chain: message.role == .request ? message.chain : nil,
                subscribes: subscribes, isWatched: isWatched, arrives: arrives)
        case (.toServer, .cancel): if let chain = message.chain { cancelled(chain) }
        case (.toClient, .push): if arrives, let chain = message.chain { pushed(in: chain) }
        case (.toClient, .reply): if arrives, let chain = message.chain { answered(chain) }
        case (.toServer, _), (.toClient, _): break
        }
    }
}
