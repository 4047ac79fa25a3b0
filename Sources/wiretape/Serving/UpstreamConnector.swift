internal import WiretapeNet
internal import WiretapeProxy
internal import WiretapeRuntime
internal import WiretapeTLS

/// Opens streams to upstreams, with TLS where their URL says so. Shared by all loops.
final class UpstreamConnector: Sendable {
    /// Nil when no upstream needs it.
    private let secure: TLSContext?

    /// - Throws: when a file of `--upstream-ca` or `--upstream-cert` cannot be used.
    convenience init(_ plan: RelayPlan) throws {
        try self.init(plan.upstreams, trust: plan.trust, identity: plan.identity, isForward: plan.forward != nil)
    }

    /// - Parameter isForward: clients name the upstreams.
    init(
        _ upstreams: [Upstream], trust: TLSTrust = .system, identity: TLSFiles? = nil, isForward: Bool = false
    ) throws {
        guard isForward || upstreams.contains(where: \.isTLS) else {
            secure = nil
            return
        }
        let keyLog: TLSKeyLog?
        do throws(TLSError) { keyLog = try TLSDoors.keyLog() } catch { throw Failure("SSLKEYLOGFILE: \(error)") }
        do {
            secure = try TLSContext(client: trust, identity: identity, keyLog: keyLog)
        } catch {
            throw Failure("\(identity == nil ? "--upstream-ca" : "TLS to upstreams"): \(error)")
        }
    }

    /// For the relays of one loop.
    func connect(on loop: any Loop) -> LoopRelays.Connect {
        // Lifetime: streams are opened on the loop while it runs.
        { [unowned loop, secure] upstream, address, handler in
            guard upstream.isTLS, let secure else { return loop.connect(to: address, handler) }
            return TLSStream.connect(loop, to: address, serverName: upstream.host, secure, handler)
        }
    }
}
