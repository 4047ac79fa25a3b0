/// The name of an event: the protocol's own (`pusher:subscribe`, `eventflit_internal:member_added`) or an application's.
struct EventflitEvent: Hashable, Sendable {
    static let pusher = "pusher"
    static let eventflit = "eventflit"
    static let dialects = [pusher, eventflit]
    static let clientPrefix = "client-"

    /// As on the wire.
    var name: String
    /// `pusher` or `eventflit`; nil for events of applications.
    var dialect: String?
    /// The protocol's own name without its prefix; nil for events of applications.
    var own: String?

    init(_ name: String) {
        self.name = name
        guard let colon = name.firstIndex(of: ":") else { return }
        let prefix = name[..<colon]
        for dialect in EventflitEvent.dialects where prefix == dialect || prefix == dialect + "_internal" {
            self.dialect = dialect
            own = String(name[name.index(after: colon)...])
        }
    }

    /// The name of the protocol's own event in another dialect; nil when it is the same there.
    func name(in dialect: String) -> String? {
        guard let own, let old = self.dialect, old != dialect else { return nil }
        return name.hasPrefix(old + "_internal:") ? "\(dialect)_internal:\(own)" : "\(dialect):\(own)"
    }
}
