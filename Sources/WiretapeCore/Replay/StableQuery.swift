/// The items of a query that tell recorded requests apart: neither volatile ones of a protocol, nor Wiretape's own, nor
/// credentials.
struct StableQuery: Hashable, Sendable {
    /// `name=value`, sorted: their order does not matter.
    var items: [String]
    /// Names whose recorded value is a pseudonym of a secret: they are compared on neither side.
    var redacted: [String]

    /// The client's name (`?wt=alice`), credentials and the usual item against caches.
    static let ownNames = ["wt", "access_token", "_"]

    /// Of a recorded request.
    init(recorded head: RequestHead, volatile: Set<String> = []) {
        let stable = StableQuery.stable(head, volatile)
        redacted = stable.filter { StableQuery.isPseudonym($0.value) }.map { $0.name.lowercased() }.sorted()
        let redacted = redacted
        items = StableQuery.texts(stable, without: redacted)
    }

    /// Whether a client's request has the same stable items.
    func agrees(with live: [(name: String, value: String)]) -> Bool {
        StableQuery.texts(live, without: redacted) == items
    }

    /// The stable items of a client's request, for ``agrees(with:)``.
    static func stable(_ head: RequestHead, _ volatile: Set<String> = []) -> [(name: String, value: String)] {
        head.query.filter { item in
            !ownNames.contains { equalIgnoringCase($0, item.name) }
                && !volatile.contains { equalIgnoringCase($0, item.name) }
        }
    }

    /// `td_17`: what redaction leaves of a secret.
    static func isPseudonym(_ value: String) -> Bool {
        value.hasPrefix("td_") && value.utf8.count > 3
            && value.utf8.dropFirst(3).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The first item, by name, that differs, as both sides have it.
    static func difference(
        _ recorded: RequestHead, _ live: RequestHead, ignoring names: [String]
    ) -> (name: String, recorded: String, live: String)? {
        let redacted = StableQuery(recorded: recorded).redacted + names.map { $0.lowercased() }
        let left = texts(stable(recorded), without: redacted)
        let right = texts(stable(live), without: redacted)
        guard let first = (left.filter { !right.contains($0) } + right.filter { !left.contains($0) }).first else {
            return nil
        }
        let name = String(first.prefix { $0 != "=" })
        let shown = { (items: [String]) in
            let mine = items.filter { $0 == name || $0.hasPrefix(name + "=") }
            return mine.isEmpty ? "no '\(name)' in the query" : mine.joined(separator: "&")
        }
        return (name, shown(left), shown(right))
    }

    private static func texts(_ items: [(name: String, value: String)], without redacted: [String]) -> [String] {
        items.filter { !redacted.contains($0.name.lowercased()) }.map { "\($0.name)=\($0.value)" }.sorted()
    }
}
