package import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The state that a server sends when a client subscribes again (Pusher, "Presence channels" and "Cache channels"). A presence channel has its
/// current members. A cache channel has its last event.
extension EventflitCodec {
    package static func updated(_ reply: Message, after later: [Message]) -> Message? {
        guard reply.type == "subscription_succeeded",
            let recorded = reply.content["data"]?["presence"].flatMap(PresenceList.init)
        else { return nil }
        var list = recorded
        for message in later {
            guard let member = message.content["data"], let id = member["user_id"] else { continue }
            switch message.type {
            case "member_added": list.add(id, member["user_info"] ?? .null)
            case "member_removed": list.remove(id)
            default: continue
            }
        }
        guard list != recorded, var data = reply.content["data"] else { return nil }
        data["presence"] = list.value
        var content = reply.content
        content["data"] = data
        guard let bytes = encode(content, like: reply) else { return nil }
        var aged = reply
        aged.content = content
        aged.bytes = bytes
        return aged
    }

    package static func retainedIndex(after reply: Message, in later: [Message]) -> Int? {
        guard reply.type == "subscription_succeeded", let channel = reply.channel, isCache(channel) else { return nil }
        let events = later.indices.filter { later[$0].role == .push && !isOwn(later[$0]) }
        return events.last ?? later.firstIndex { $0.type == "cache_miss" }
    }

    private static func isCache(_ channel: String) -> Bool {
        ["cache-", "private-cache-", "presence-cache-", "private-encrypted-cache-"].contains { channel.hasPrefix($0) }
    }

    /// Whether the message is a protocol event or a client event. A server retains only events that an application published.
    private static func isOwn(_ message: Message) -> Bool {
        let event = EventflitEvent(message.label ?? message.type)
        return event.own != nil || event.name.hasPrefix(EventflitEvent.clientPrefix)
    }
}

/// The member list of a presence channel: `{"count":1,"ids":["7"],"hash":{"7":{"name":"ada"}}}`.
private struct PresenceList: Hashable {
    private(set) var value: JSONValue
    private var ids: [JSONValue]
    private var hash: [JSONValue.Member]

    init?(_ value: JSONValue) {
        guard let ids = value["ids"]?.array, case .object(let hash)? = value["hash"] else { return nil }
        self.value = value
        self.ids = ids
        self.hash = hash
    }

    mutating func add(_ id: JSONValue, _ info: JSONValue) {
        guard !ids.contains(where: { Self.name($0) == Self.name(id) }) else { return }
        ids.append(id)
        hash.append(.init(Self.name(id), info))
        write()
    }

    mutating func remove(_ id: JSONValue) {
        ids.removeAll { Self.name($0) == Self.name(id) }
        hash.removeAll { $0.name == Self.name(id) }
        write()
    }

    private mutating func write() {
        value["ids"] = .array(ids)
        value["hash"] = .object(hash)
        value["count"] = .number(ids.count)
    }

    private static func name(_ id: JSONValue) -> String { id.string ?? id.text }
}
