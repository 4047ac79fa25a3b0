internal import WiretapeBytes
internal import WiretapeRedaction
internal import WiretapeWire

/// The names that a canonical tape has for what a server or client drew at random: `id_1`, `id_2`, … in the order of
/// appearance. The same value has the same name wherever it stands.
struct CanonNames {
    private var names: [String: String] = [:]
    /// `host:port` of the listeners and upstreams, without the port.
    private var authorities: [(with: String, without: String)] = []

    /// At most so many: what comes after keeps its value.
    private static let limit = 100_000

    /// The name for a value, made when it is new.
    /// A pseudonym of a secret has a name already, which replay knows.
    mutating func name(_ value: String) -> String {
        if let name = names[value] { return name }
        guard Pseudonym.number(of: value) == nil else { return value }
        guard !value.isEmpty, names.count < CanonNames.limit else { return value }
        let name = "id_\(names.count + 1)"
        names[value] = name
        return name
    }

    /// The value's name when it has one, else itself.
    func known(_ value: String) -> String { names[value] ?? value }

    func isKnown(_ value: String) -> Bool { names[value] != nil }

    mutating func note(authority: String) {
        let bare = CanonNames.withoutPort(authority)
        guard bare != authority, !authorities.contains(where: { $0.with == authority }), authorities.count < 64 else {
            return
        }
        authorities.append((authority, bare))
        // A longer port first, or 127.0.0.1:80 would cut 127.0.0.1:8080 short.
        authorities.sort { ($0.with.utf8.count, $1.with) > ($1.with.utf8.count, $0.with) }
    }

    /// Without the ports of our own listeners and upstreams.
    func withoutPorts(_ text: String) -> String {
        var text = text
        for authority in authorities where text.contains(authority.with) {
            text = text.replacing(authority.with, with: authority.without)
        }
        return text
    }

    /// `127.0.0.1:5000` → `127.0.0.1`, `http://host:80` → `http://host`.
    static func withoutPort(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":") else { return authority }
        let port = authority[authority.index(after: colon)...]
        guard !port.isEmpty, port.allSatisfy({ $0.isASCII && $0.isNumber }) else { return authority }
        // The last group of a bare IPv6 address is no port.
        if authority[..<colon].contains(":"), !authority.contains("]"), !authority.contains("://") { return authority }
        return String(authority[..<colon])
    }

    // MARK: Targets and texts

    /// Names the values of a target's query that servers or clients draw, and leaves out what only keeps caches away.
    /// - Parameter isSession: whether the protocol's own items count; elsewhere an `id` is what the application asks for.
    mutating func target(_ target: String, isSession: Bool) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        var items: [String] = []
        for item in target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = percentDecoded(parts[0])
            guard parts.count == 2 else {
                items.append(String(item))
                continue
            }
            if CanonNames.passing.contains(where: { equalIgnoringCase($0, key) }) { continue }
            let value = percentDecoded(parts[1])
            let isDrawn =
                equalIgnoringCase(key, "access_token")
                || (isSession && CanonNames.drawn.contains { equalIgnoringCase($0, key) })
            if isDrawn || isKnown(value) {
                items.append("\(parts[0])=\(name(value))")
            } else {
                items.append(String(item))
            }
        }
        let path = withoutPorts(String(target[..<mark]))
        return items.isEmpty ? path : "\(path)?\(items.joined(separator: "&"))"
    }

    /// Query items that say when, or which request of many it is.
    private static let passing = ["_", "X-Cache-Date", "jsonpTransport"]

    /// Query items whose values are drawn.
    private static let drawn = ["id", "asrs_request_id"]

    /// A text of a negotiation: an id, a URL with one, or anything else.
    mutating func negotiated(_ text: String) -> String {
        if let name = names[text] { return name }
        guard text.contains("://") else { return text }
        return withoutPorts(text.contains("?") ? target(text, isSession: true) : text)
    }

    // MARK: Heads

    /// What a canonical tape keeps of a head: no field that changes from run to run, the others by name.
    mutating func headers(_ fields: [HeaderField]) -> [HeaderField] {
        var kept: [HeaderField] = []
        for field in fields {
            let key = field.name.lowercased()
            guard !CanonNames.volatileHeaders.contains(key) else { continue }
            let value: String =
                switch key {
                case "host": CanonNames.withoutPort(field.value)
                case "authorization", "proxy-authorization": credential(field.value)
                case "cookie": cookies(field.value)
                case "set-cookie": setCookie(field.value)
                // A number to which a server adds.
                case "x-cache-date": "1"
                default: names[field.value] ?? withoutPorts(field.value)
                }
            kept.append(HeaderField(field.name, value))
        }
        let ranked = kept.enumerated().sorted {
            ($0.element.name.lowercased(), $0.offset) < ($1.element.name.lowercased(), $1.offset)
        }
        return ranked.map(\.element)
    }

    /// Left out: they say when, by which version, how long or for which connection.
    static let volatileHeaders: Set<String> = [
        "date", "age", "expires", "last-modified", "user-agent", "x-signalr-user-agent", "content-length",
        "transfer-encoding", "sec-websocket-key", "sec-websocket-accept", "server-timing", "x-request-id", "request-id",
        "x-correlation-id", "traceparent", "tracestate", "x-amzn-trace-id", "cf-ray", "x-runtime", "x-response-time",
        "x-forwarded-for", "x-forwarded-port", "via",
    ]

    /// `Bearer SECRET` → `Bearer id_3`.
    private mutating func credential(_ value: String) -> String {
        let parts = value.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? "\(parts[0]) \(name(String(parts[1])))" : name(value)
    }

    private mutating func cookies(_ value: String) -> String {
        value.split(separator: ";").map { cookie(String($0).trimmingBlanks()) }.joined(separator: "; ")
    }

    private mutating func setCookie(_ value: String) -> String {
        let parts = value.split(separator: ";").map { String($0).trimmingBlanks() }
        guard let first = parts.first else { return value }
        let attributes = parts.dropFirst().filter { !$0.lowercased().hasPrefix("expires=") }
        return ([cookie(first)] + attributes).joined(separator: "; ")
    }

    private mutating func cookie(_ pair: String) -> String {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        // Short ones are settings, which applications read.
        guard parts.count == 2, parts[1].utf8.count >= 16 else { return pair }
        return "\(parts[0])=\(name(String(parts[1])))"
    }
}
