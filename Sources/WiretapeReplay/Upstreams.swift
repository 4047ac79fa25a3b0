/// The upstreams of a tape that has several: each has listeners of its own in replay, whose clients are served what was
/// recorded there and nothing else. Of a tape with one upstream there are none.
package struct Upstreams: Hashable, Sendable {
    /// In the order of the tape's header; empty where there are fewer than two.
    package let names: [String]
    /// Where clients name the hosts that they want to reach: those of the header's upstreams by their names. Nil elsewhere.
    private let hosts: [String: String]?

    package init(_ names: [String] = []) {
        var different: [String] = []
        for name in names where !different.contains(name) { different.append(name) }
        self.names = different.count > 1 ? different : []
        hosts = nil
    }

    /// Of a forward proxy: a client is served what was recorded at the host that it names, `chat.example.com` or
    /// `127.0.0.1:5000`. A tape of a forward proxy has those names in its `open` events.
    /// - Parameter hosts: of the upstreams that the header names, by their names there.
    package init(forward hosts: [String: String]) {
        names = []
        self.hosts = hosts
    }

    /// Whether clients name the hosts.
    package var isForward: Bool { hosts != nil }

    /// Whose listeners serve what was recorded at `name`. What has no name, or one that the header does not have (a later
    /// take), is the first one's. Nil: every listener.
    package func home(of name: String?) -> String? {
        if let hosts {
            // Sessions without a name were recorded where there was one upstream.
            return name.map { hosts[$0] ?? $0 } ?? (hosts.count == 1 ? hosts.first?.value : nil)
        }
        guard let first = names.first else { return nil }
        return name.flatMap { names.contains($0) ? $0 : nil } ?? first
    }
}
