package import WiretapeWire

/// What makes a listener a forward proxy, or a transparent one.
package struct ForwardPlan: Sendable {
    let scope: ForwardDoor.Scope
    /// Connections are redirected to the listener, and their clients do not know of it.
    let isTransparent: Bool
    /// The TLS of clients within the proxy's connections.
    let inner: TLSDoor
    /// What ``ForwardDoor/magicHost`` answers.
    let page: @Sendable (RequestHead) -> HTTPAnswer
    /// Writes a line for people.
    let say: @Sendable (String) -> Void

    package init(
        scope: ForwardDoor.Scope, isTransparent: Bool, inner: TLSDoor,
        page: @escaping @Sendable (RequestHead) -> HTTPAnswer, say: @escaping @Sendable (String) -> Void
    ) {
        self.scope = scope
        self.isTransparent = isTransparent
        self.inner = inner
        self.page = page
        self.say = say
    }
}
