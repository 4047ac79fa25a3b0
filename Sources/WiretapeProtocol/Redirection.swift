/// Where the answer to a negotiation sends the client instead of giving it a session.
package struct Redirection: Hashable, Sendable {
    /// Path and query of the URL to negotiate with next.
    package var target: String
    /// What the client has to show there in place of its own credential.
    package var credential: String?

    package init(target: String, credential: String? = nil) {
        self.target = target
        self.credential = credential
    }
}
