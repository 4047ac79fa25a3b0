internal import WiretapeBytes

/// The first line of a tape.
package struct TapeHeader: Hashable, Sendable {
    /// The newest version that this build reads and the one it writes.
    package static let currentVersion = 1

    package var version: Int
    /// RFC 3339 with microseconds, UTC.
    package var started: String?
    /// `wiretape/0.1.0`.
    package var tool: String?
    /// `reverse` or `forward`.
    package var mode: String?
    /// Names and URLs in order.
    package var upstreams: [(name: String, url: String)]
    /// `none`, `default` or `rules`.
    package var redaction: String?
    /// Of a sparse tape: the codec's id.
    package var protocolID: String?
    /// Of a sparse tape: the path of its session.
    package var route: String?

    package init(
        version: Int = TapeHeader.currentVersion, started: String? = nil, tool: String? = nil, mode: String? = nil,
        upstreams: [(name: String, url: String)] = [], redaction: String? = nil, protocolID: String? = nil,
        route: String? = nil
    ) {
        self.version = version
        self.started = started
        self.tool = tool
        self.mode = mode
        self.upstreams = upstreams
        self.redaction = redaction
        self.protocolID = protocolID
        self.route = route
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.version == b.version && a.started == b.started && a.tool == b.tool && a.mode == b.mode
            && a.upstreams.elementsEqual(b.upstreams, by: ==) && a.redaction == b.redaction
            && a.protocolID == b.protocolID && a.route == b.route
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(started)
    }
}
