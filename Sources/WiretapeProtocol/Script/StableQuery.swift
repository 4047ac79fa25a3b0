internal import WiretapeBytes
internal import WiretapeRedaction
package import WiretapeWire

/// The items of a query that tell recorded requests apart: neither volatile ones of a protocol, nor Wiretape's own, nor
/// credentials.
package struct StableQuery: Hashable, Sendable {
    /// `name=value`, sorted: their order does not matter.
    package var items: [String]
    /// Names in lower case that are compared on neither side: their recorded value is a pseudonym of a secret, or
    /// `--ignore` says so.
    package var redacted: [String]

    /// The client's name (`?wt=alice`), credentials and the usual item against caches.
    static let ownNames = ["wt", "access_token", "_"]

    /// Of a recorded request.
    /// - Parameter ignored: names in lower case that `--ignore` leaves out.
    package init(recorded head: RequestHead, volatile: Set<String> = [], ignoring ignored: Set<String> = []) {
        let stable = StableQuery.stable(head, volatile)
        redacted = ignored.union(stable.filter { StableQuery.isPseudonym($0.value) }.map { $0.name.lowercased() })
            .sorted()
        let redacted = redacted
        items = StableQuery.texts(stable, without: redacted)
    }

    /// Whether a client's request has the same stable items.
    package func agrees(with live: [(name: String, value: String)]) -> Bool {
        StableQuery.texts(live, without: redacted) == items
    }

    /// The stable items of a client's request, for ``agrees(with:)``.
    package static func stable(_ head: RequestHead, _ volatile: Set<String> = []) -> [(name: String, value: String)] {
        let query = head.query
        let known = madeAnew(query)
        return query.filter { item in
            !ownNames.contains { equalIgnoringCase($0, item.name) }
                && !volatile.contains { equalIgnoringCase($0, item.name) }
                && !known.contains { equalIgnoringCase($0, item.name) }
        }
    }

    /// Items that clients of protocols without a codec make anew for every request: Engine.IO's time, which Socket.IO's
    /// clients send, and what the older SignalR of ASP.NET numbers its connections by.
    private static func madeAnew(_ query: [(name: String, value: String)]) -> [String] {
        func has(_ name: String) -> Bool { query.contains { $0.name == name } }
        if has("EIO"), has("transport") { return ["t"] }
        if has("clientProtocol"), has("connectionToken") { return ["connectionToken", "tid"] }
        return []
    }

    /// The items, in lower case, that `--ignore` leaves out of requests to a place of the tape.
    /// - Parameter paths: names of the place.
    package static func ignored(_ rules: [IgnoreRule], _ method: String, _ paths: [String]) -> Set<String> {
        var names: Set<String> = []
        for rule in rules where rule.pointer.hasPrefix("?") {
            guard rule.label == "*" || paths.contains(where: { rule.label == $0 || rule.label == "\(method) \($0)" })
            else { continue }
            names.insert(rule.pointer.dropFirst().lowercased())
        }
        return names
    }

    /// What redaction leaves of a secret, by itself or with what stood around it: `td_17`, `key:td_17`, or a shape of it.
    static func isPseudonym(_ value: String) -> Bool { !Pseudonym.ranges(in: Array(value.utf8)).isEmpty }

    /// The first item, by name, that differs, as both sides have it.
    package static func difference(
        _ recorded: RequestHead, _ live: RequestHead, ignoring names: Set<String>
    ) -> (name: String, recorded: String, live: String)? {
        let redacted = StableQuery(recorded: recorded, ignoring: names).redacted
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

    /// The items that keep a client's request from agreeing, by name: their values on both sides, in order.
    package func differences(from live: [(name: String, value: String)]) -> [Difference] {
        let mine = items.map { item in
            let name = item.prefix { $0 != "=" }
            return (name: String(name), value: String(item[name.endIndex...].dropFirst()))
        }
        let others = live.filter { !redacted.contains($0.name.lowercased()) }
        var names: [String] = []
        for item in mine + others where !names.contains(item.name) { names.append(item.name) }
        return names.compactMap { name in
            let values = { (items: [(name: String, value: String)]) in
                items.filter { $0.name == name }.map(\.value).sorted()
            }
            let difference = Difference(name: name, recorded: values(mine), live: values(others))
            return difference.recorded == difference.live ? nil : difference
        }
    }

    /// `?t is "b", on the tape "a"`.
    package struct Difference: Hashable, Sendable, CustomStringConvertible {
        package var name: String
        /// Empty: it is not there.
        package var recorded: [String]
        package var live: [String]

        package var description: String {
            let ours = recorded.isEmpty ? "not on the tape" : "on the tape \(Difference.said(recorded))"
            return "?\(Summary.line(name)) is \(live.isEmpty ? "missing" : Difference.said(live)), \(ours)"
        }

        private static func said(_ values: [String]) -> String {
            values.map { Summary.line(JSONValue.string($0).text) }.joined(separator: " and ")
        }
    }

    private static func texts(_ items: [(name: String, value: String)], without redacted: [String]) -> [String] {
        items.filter { !redacted.contains($0.name.lowercased()) }.map { "\($0.name)=\($0.value)" }.sorted()
    }
}
