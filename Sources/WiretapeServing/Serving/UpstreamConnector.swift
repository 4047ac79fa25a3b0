internal import WiretapeCommandLine
internal import WiretapeNet
package import WiretapeProxy
package import WiretapeRuntime
internal import WiretapeSystem
package import WiretapeTLS
package import WiretapeWire

/// Opens streams to upstreams, with TLS where their URL says so. Shared by all loops.
package final class UpstreamConnector: Sendable {
    private let trust: TLSTrust
    private let identity: TLSFiles?
    private let via: ViaProxy?
    /// Made at once where an upstream needs it, else when a client is first led to a server that does.
    private let secure: Gate<TLSContext?>

    /// - Throws: when a file of `--upstream-ca` or `--upstream-cert` cannot be used.
    package convenience init(_ plan: RelayPlan) throws {
        try self.init(
            plan.upstreams, trust: plan.trust, identity: plan.identity, via: plan.options.via,
            isForward: plan.forward != nil)
    }

    /// - Parameters:
    ///   - via: the proxy through which they are reached.
    ///   - isForward: clients name the upstreams.
    package init(
        _ upstreams: [Upstream], trust: TLSTrust = .system, identity: TLSFiles? = nil, via: ViaProxy? = nil,
        isForward: Bool = false
    ) throws {
        self.trust = trust
        self.identity = identity
        self.via = via
        var needsTLS = isForward || upstreams.contains(where: \.isTLS)
        // What may be wrong with a file is said before anybody connects.
        if case .systemAnd = trust { needsTLS = true }
        secure = Gate(needsTLS ? try Self.context(trust, identity) : nil)
    }

    private static func context(_ trust: TLSTrust, _ identity: TLSFiles?) throws -> TLSContext {
        let keyLog: TLSKeyLog?
        do throws(TLSError) { keyLog = try TLSDoors.keyLog() } catch { throw Failure("SSLKEYLOGFILE: \(error)") }
        do {
            return try TLSContext(client: trust, identity: identity, keyLog: keyLog)
        } catch {
            throw Failure("\(identity == nil ? "--upstream-ca" : "TLS to upstreams"): \(error)")
        }
    }

    /// Nil: it could not be made, and streams that need it fail.
    private var context: TLSContext? {
        secure.withLock { secure in
            if secure == nil { secure = try? Self.context(trust, identity) }
            return secure
        }
    }

    /// For the relays of one loop.
    package func connect(on loop: any Loop) -> LoopRelays.Connect {
        // Lifetime: streams are opened on the loop while it runs.
        { [unowned loop, self] upstream, address, handler in
            let loop: any Loop =
                via.map { ViaLoop(loop, $0, to: ForwardTarget(host: upstream.host, port: upstream.port)) } ?? loop
            guard upstream.isTLS else { return loop.connect(to: address, handler) }
            return TLSStream.connect(loop, to: address, serverName: upstream.host, context, handler)
        }
    }
}
