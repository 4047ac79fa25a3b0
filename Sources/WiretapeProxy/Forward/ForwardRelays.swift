internal import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// The relays of a forward proxy on one loop: one for each host that clients have asked for.
package final class ForwardRelays {
    private struct Key: Hashable {
        let target: ForwardTarget
        let isTLS: Bool
        /// Nil: it has to be looked up.
        var address: Address?
    }

    /// Relays that are kept; beyond it those without a connection go.
    private static let most = 512

    private let make: (Upstream) -> RelayNode
    private var nodes: [Key: RelayNode] = [:]
    /// Let go of, and not stopped yet.
    private var leaving = 0
    private var whenStopped: (() -> Void)?

    /// - Parameter make: the relay of a host that clients have not asked for before.
    package init(_ make: @escaping (Upstream) -> RelayNode) {
        self.make = make
    }

    /// Relays what a client says to a host.
    package func accept(
        _ stream: any ByteStream, _ seat: Seat?, _ target: ForwardTarget, isTLS: Bool
    ) -> any StreamHandler {
        node(of: Key(target: target, isTLS: isTLS)).accept(stream, seat)
    }

    /// The same where it is known where the host is.
    package func accept(
        _ stream: any ByteStream, _ seat: Seat?, _ to: TransparentDoor.Destination
    ) -> any StreamHandler {
        node(of: Key(target: to.target, isTLS: to.isTLS, address: to.address)).accept(stream, seat)
    }

    package func hold() { for node in nodes.values { node.hold() } }
    package func release() { for node in nodes.values { node.release() } }

    /// Ends all connections; `done` is called once, never before this call returns unless there was never a relay.
    package func stop(_ done: @escaping () -> Void) {
        leaving += nodes.count
        guard leaving > 0 else { return done() }
        whenStopped = done
        for node in nodes.values { node.stop { [self] in left() } }
    }

    private func node(of key: Key) -> RelayNode {
        if let node = nodes[key] { return node }
        if nodes.count >= Self.most { forgetIdle() }
        let scheme = key.isTLS ? "https" : "http"
        let node = make(
            Upstream(
                name: key.target.tapeName(isTLS: key.isTLS),
                url: "\(scheme)://\(key.target.name(isTLS: key.isTLS))", host: key.target.host, port: key.target.port,
                isTLS: key.isTLS,
                address: key.address))
        nodes[key] = node
        return node
    }

    private func forgetIdle() {
        for (key, node) in nodes where node.count == 0 {
            nodes[key] = nil
            leaving += 1
            // It is kept by its own timer until it has stopped.
            node.stop { [self] in
                _ = node
                left()
            }
        }
    }

    private func left() {
        leaving -= 1
        guard leaving == 0, let done = whenStopped else { return }
        whenStopped = nil
        nodes = [:]
        done()
    }
}
