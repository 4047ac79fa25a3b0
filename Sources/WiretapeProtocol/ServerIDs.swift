/// The ids that a server made for a session.
package struct ServerIDs: Hashable, Sendable {
    /// Public.
    package var connectionID: String
    /// The secret that later requests carry.
    package var token: String

    package init(connectionID: String, token: String) {
        self.connectionID = connectionID
        self.token = token
    }
}
