/// The upstreams of a tape that has several: each has listeners of its own in replay, whose clients are served what was
/// recorded there and nothing else. Of a tape with one upstream there are none.
package struct Upstreams: Hashable, Sendable {
    /// In the order of the tape's header; empty where there are fewer than two.
    package let names: [String]

    package init(_ names: [String] = []) {
        var different: [String] = []
        for name in names where !different.contains(name) { different.append(name) }
        self.names = different.count > 1 ? different : []
    }

    /// Whose listeners serve what was recorded at `name`. What has no name, or one that the header does not have (a later
    /// take), is the first one's. Nil: every listener.
    package func home(of name: String?) -> String? {
        guard let first = names.first else { return nil }
        return name.flatMap { names.contains($0) ? $0 : nil } ?? first
    }
}
