internal import WiretapeCore
internal import WiretapeNet
internal import WiretapeProxy

/// Opens streams to upstreams, with TLS where their URL says so. Shared by all loops.
final class UpstreamConnector: Sendable {
    init(_ plan: RelayPlan) throws {
        if let secure = plan.upstreams.first(where: \.isTLS) {
            throw Failure("\(secure.url): upstreams with TLS are not built yet", .usage)
        }
    }

    /// For the relays of one loop.
    func connect(on loop: any Loop) -> LoopRelays.Connect {
        { [unowned loop] _, address, handler in loop.connect(to: address, handler) }
    }
}
