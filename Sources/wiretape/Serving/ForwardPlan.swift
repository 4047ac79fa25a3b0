internal import WiretapeProxy
internal import WiretapeRuntime

/// What makes a listener a forward proxy.
struct ForwardPlan: Sendable {
    let scope: ForwardDoor.Scope
    /// Of TLS within.
    let inner: TLSDoor
    let page: AuthorityPage
    /// A line for people.
    let say: @Sendable (String) -> Void
}
