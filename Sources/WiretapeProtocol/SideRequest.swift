package import WiretapeWire

/// An ordinary exchange that an application makes for a session, such as the authorisation of a channel. It may be made as
/// often as a client likes, for instance after each reconnect.
package struct SideRequest: Hashable, Sendable {
    /// What is asked: compared in place of query and body.
    package var meaning: JSONValue
    /// The server's id of the session that it is made for.
    package var session: String
    /// The path, where clients of the protocol's dialects ask at paths of their own: one for all of them. Nil: as asked.
    package var path: String?

    package init(meaning: JSONValue, session: String, path: String? = nil) {
        self.meaning = meaning
        self.session = session
        self.path = path
    }
}
