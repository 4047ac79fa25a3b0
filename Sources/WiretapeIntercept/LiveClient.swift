/// Who asks for what: clients that agree in both are one.
struct LiveClient: Hashable {
    /// The path without what the protocol adds.
    var route: String
    /// A name, a number for a credential, or address and agent.
    var identity: String
}
