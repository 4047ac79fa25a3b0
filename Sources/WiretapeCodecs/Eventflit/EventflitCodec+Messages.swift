internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension EventflitCodec {
    mutating func read(_ frame: EventflitFrame) throws(EventflitFault) -> Message {
        guard let own = frame.event.own else { return try event(frame) }
        if let dialect = frame.event.dialect { self.dialect = dialect }
        switch (own, frame.direction) {
        case ("ping", _), ("pong", _): return frame.message(.keepalive, own, summary: own)
        case ("connection_established", .toClient): return try established(frame)
        case ("subscribe", .toServer): return try subscribe(frame)
        case ("unsubscribe", .toServer):
            let channel = try frame.requiredText("channel")
            return frame.message(
                .cancel, own, channel: channel, chain: Self.chain(channel),
                meaning: [.init("data", .object([.init("channel", .string(channel))]))], summary: "\(own) \(channel)")
        case ("signin", .toServer):
            let user = EventflitFrame.inner(.string(try frame.requiredText("user_data")))
            return frame.message(
                .request, own, chain: Self.userChain,
                meaning: [.init("data", .object([.init("user_data", withoutSocketID(user))]))],
                summary: "\(own) \(user.text)")
        case ("signin_success", .toClient):
            return frame.message(
                .reply, own, chain: Self.userChain,
                meaning: meaning(of: frame, data: frame.field("user_data") ?? .null),
                summary: "\(own) \(frame.field("user_data")?.text ?? "")")
        case ("error", .toClient): return error(frame)
        case (_, .toClient): return try channelEvent(frame, own)
        default: throw EventflitFault("no event of the protocol: \(frame.event.name)")
        }
    }

    /// Of channels: by name, for no name holds a colon that the second could be mistaken for.
    static func chain(_ channel: String) -> Chain { Chain(channel, origin: .toServer) }
    private static let userChain = Chain("user:", origin: .toServer)

    private mutating func established(_ frame: EventflitFrame) throws(EventflitFault) -> Message {
        let socketID = try frame.requiredText("socket_id")
        self.socketID = socketID
        subscriptions = EventflitSubscriptions()
        var summary = "connection_established \(socketID)"
        if case .number(let text)? = frame.field("activity_timeout"), let seconds = Double(text), seconds > 0 {
            activityTimeout = seconds
            summary += ", activity timeout \(text) s"
        }
        return frame.message(
            .handshake, "connection_established", chain: Chain(socketID, origin: .toClient), summary: summary)
    }

    /// `auth` is no part of what is compared: it is as good as its signature, which only the secret can tell.
    private mutating func subscribe(_ frame: EventflitFrame) throws(EventflitFault) -> Message {
        let channel = try frame.requiredText("channel")
        subscriptions.ask(channel)
        var data: [JSONValue.Member] = [.init("channel", .string(channel))]
        var summary = "subscribe \(channel)"
        if let raw = frame.field("channel_data") {
            let member = EventflitFrame.inner(raw)
            data.append(.init("channel_data", withoutSocketID(member)))
            summary += " as \(Self.member(member))"
        }
        var meaning: [JSONValue.Member] = [.init("data", .object(data))]
        if let fault = signatureFault(frame, channel) { meaning.append(.init("signature", .string(fault))) }
        return frame.message(
            .request, "subscribe", channel: channel, chain: Self.chain(channel), meaning: meaning, summary: summary)
    }

    /// What the server says of a channel.
    private mutating func channelEvent(_ frame: EventflitFrame, _ own: String) throws(EventflitFault) -> Message {
        let channel = try frame.requiredChannel()
        var summary = "\(own) \(channel)"
        var role = Role.push
        switch own {
        case "subscription_succeeded":
            role = .reply
            subscriptions.answer(channel)
            if let presence = frame.field("presence") { summary += " with \(Self.members(presence))" }
        case "subscription_error":
            role = .reply
            subscriptions.answer(channel)
            if let text = frame.field("error")?.string { summary += " \(JSONValue.string(text).text)" }
        case "member_added": summary += " \(Self.member(frame.data ?? .null))"
        case "member_removed": summary += " \(Self.member(frame.data ?? .null))"
        case "subscription_count":
            if let count = frame.field("subscription_count") { summary += " \(count.text)" }
        default: if let data = frame.data, data != .object([]) { summary += " \(data.text)" }
        }
        return frame.message(
            role, own, channel: channel, chain: Self.chain(channel), meaning: meaning(of: frame), summary: summary)
    }

    /// Errors of single requests have no channel but in their text; those of 4000 to 4299 end the connection.
    private mutating func error(_ frame: EventflitFrame) -> Message {
        let text = frame.field("message")?.string ?? frame.data?.text ?? ""
        let code = frame.field("code")?.canonical.int
        let summary = "error \(code.map { "\($0) " } ?? "")\(text)"
        if let channel = frame.channel ?? subscriptions.named(in: text), code == nil || code == 4009 {
            subscriptions.answer(channel)
            return frame.message(
                .reply, "error", channel: channel, chain: Self.chain(channel), meaning: meaning(of: frame),
                summary: summary)
        }
        let isEnd = code.map { (4000..<4300).contains($0) } ?? false
        return frame.message(isEnd ? .close : .push, "error", meaning: meaning(of: frame), summary: summary)
    }

    /// An event of the application: of a client (`client-…`), or published.
    private func event(_ frame: EventflitFrame) throws(EventflitFault) -> Message {
        let isOwn = frame.direction == .toServer
        guard !isOwn || frame.event.name.hasPrefix(EventflitEvent.clientPrefix) else {
            throw EventflitFault("no client event: \(frame.event.name)")
        }
        var summary = frame.event.name
        if let channel = frame.channel { summary += " on \(channel)" }
        // A client's own data is as it is; what a server relays is JSON in a text.
        let data = isOwn ? EventflitFrame.field("data", of: frame.object) : frame.data
        if let data { summary += " \(data.text)" }
        if let user = EventflitFrame.field("user_id", of: frame.object) { summary += " of \(user.string ?? user.text)" }
        return frame.message(
            isOwn ? .send : .push, frame.event.name, channel: frame.channel,
            chain: isOwn ? nil : frame.channel.map(Self.chain), meaning: meaning(of: frame, data: data),
            summary: summary)
    }

    private func meaning(of frame: EventflitFrame) -> [JSONValue.Member] { meaning(of: frame, data: frame.data) }

    private func meaning(of frame: EventflitFrame, data: JSONValue?) -> [JSONValue.Member] {
        var meaning: [JSONValue.Member] = []
        if frame.event.own == nil { meaning.append(.init("event", .string(frame.event.name))) }
        if let channel = frame.channel { meaning.append(.init("channel", .string(channel))) }
        meaning.append(.init("data", withoutSocketID(data ?? .null)))
        if let user = EventflitFrame.field("user_id", of: frame.object) {
            meaning.append(.init("user_id", withoutSocketID(user)))
        }
        return meaning
    }

    /// Applications take the socket id for a user's name: it has one name in every session.
    func withoutSocketID(_ value: JSONValue) -> JSONValue {
        guard let socketID, Self.mentions(value, socketID) else { return value }
        return Self.renamed(value) { $0.replacing(socketID, with: "$socket_id") }
    }

    private static func mentions(_ value: JSONValue, _ id: String) -> Bool {
        switch value {
        case .string(let text): text.utf8.count >= id.utf8.count && text.contains(id)
        case .array(let items): items.contains { mentions($0, id) }
        case .object(let members): members.contains { $0.name.contains(id) || mentions($0.value, id) }
        case .null, .bool, .number: false
        }
    }

    private static func renamed(_ value: JSONValue, _ change: (String) -> String) -> JSONValue {
        switch value {
        case .string(let text): .string(change(text))
        case .array(let items): .array(items.map { renamed($0, change) })
        case .object(let members): .object(members.map { .init(change($0.name), renamed($0.value, change)) })
        case .null, .bool, .number: value
        }
    }

    /// `7 {"name":"ada"}`
    private static func member(_ data: JSONValue) -> String {
        let id = data["user_id"].map { $0.string ?? $0.text } ?? data.text
        guard let info = data["user_info"], info != .null, info != .object([]) else { return id }
        return "\(id) \(info.text)"
    }

    private static func members(_ presence: JSONValue) -> String {
        let ids = presence["ids"]?.array?.map { $0.string ?? $0.text } ?? []
        let count = presence["count"]?.int ?? ids.count
        return "\(count) \(count == 1 ? "member" : "members"): \(ids.joined(separator: ", "))"
    }
}
