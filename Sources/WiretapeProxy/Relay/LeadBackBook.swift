internal import Synchronization
internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// Where clients find us in place of which server, over all loops of a run.
package final class LeadBackBook: Sendable {
    /// A listener and whether it speaks TLS.
    struct Door: Hashable, Sendable {
        let address: Address
        let isTLS: Bool
    }

    private struct State: Sendable {
        var doors: [WebOrigin: [Door]] = [:]
        /// The server that a listener stands for, by its port.
        var servers: [UInt16: WebOrigin] = [:]
        /// Servers that clients were led to, beside the upstreams.
        var led = 0
        var said: Set<String> = []
    }

    private let state = Mutex(State())
    private let tell: @Sendable (String) -> Void
    private let warn: @Sendable (String) -> Void

    /// Servers beside the upstreams that clients are led back from.
    static let most = 64

    /// - Parameters:
    ///   - tell: a line for people about what is as it should be; called on the thread of the loop where it happened.
    ///   - warn: a line for people about what may not work.
    package init(
        tell: @escaping @Sendable (String) -> Void = { _ in }, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.tell = tell
        self.warn = warn
    }

    func add(_ server: WebOrigin, _ door: Door) {
        state.withLock { state in
            if state.doors[server]?.contains(door) != true { state.doors[server, default: []].append(door) }
            state.servers[door.address.port] = server
        }
    }

    /// Where clients find us in place of that server, by listeners that speak TLS or do not.
    func door(_ server: WebOrigin, isTLS: Bool) -> Door? {
        state.withLock { $0.doors[server]?.first { $0.isTLS == isTLS } }
    }

    /// The server that a listener on that port stands for.
    func server(at port: UInt16) -> WebOrigin? { state.withLock { $0.servers[port] } }

    /// Whether one more server may have a listener.
    func takePlace() -> Bool {
        state.withLock { state in
            guard state.led < Self.most else { return false }
            state.led += 1
            return true
        }
    }

    func say(_ text: String) { once(text, tell) }

    /// Says what may not work, once.
    func complain(_ text: String) { once(text, warn) }

    private func once(_ text: String, _ how: (String) -> Void) {
        let isNew = state.withLock { $0.said.count < 256 && $0.said.insert(text).inserted }
        if isNew { how(text) }
    }
}
