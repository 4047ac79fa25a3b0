internal import WiretapeBytes
package import WiretapeRuntime
package import WiretapeWire

/// A small SignalR client: JSON over WebSockets, with automatic reconnect that behaves as @microsoft/signalr's does.
///
/// States: idle → starting → connected ↔ reconnecting → closed. Everything is told on the loop, in the order in which it
/// happened. Calls that are pending when the connection is lost fail.
package final class HubClient {
    enum State {
        case idle
        /// `attempt` is 0 for the first start.
        case starting(attempt: Int)
        case connected
        case waiting(attempt: Int)
        case closed
    }

    let loop: any Loop
    let options: HubOptions
    var state = State.idle
    /// What the application sees.
    package var observe: (HubEvent) -> Void = { _ in }
    /// Answers an invocation of the server that wants a result; nil for none.
    package var answer: (_ target: String, _ arguments: [JSONValue]) -> JSONValue? = { _, _ in nil }

    var random: SplitMix64
    /// Of the attempt under way, or of the connection: what others tell late is ignored.
    var connection: HTTPClientConnection?
    /// Connections made so far.
    var attempts = 0
    var addresses: [Address] = []
    var isShaken = false
    var connectionID = ""
    /// Reconnecting, handshake, silence.
    var deadline: (any LoopTimer)?
    var keepAlive: (any LoopTimer)?
    var lastHeard = WireInstant.zero
    var lastSent = WireInstant.zero

    // Calls
    var nextID = 0
    var pending: [String: PendingCall] = [:]

    package init(_ loop: any Loop, _ options: HubOptions) {
        self.loop = loop
        self.options = options
        random = SplitMix64(seed: options.seed)
    }

    package var isConnected: Bool { if case .connected = state { true } else { false } }

    /// Starts once. A first start that fails closes; it is not tried again.
    package func start() {
        guard case .idle = state else { return }
        deadline = loop.timer { [weak self] in self?.deadlinePassed() }
        keepAlive = loop.timer { [weak self] in self?.keepAliveDue() }
        begin(attempt: 0)
    }

    /// Closes for good.
    package func stop() {
        switch state {
        case .idle, .closed: return
        case .connected:
            send([.close(error: nil, allowReconnect: false)])
            connection?.close()
        case .starting, .waiting: connection?.close()
        }
        finish(nil)
    }

    // MARK: Time

    private func deadlinePassed() {
        switch state {
        case .waiting(let attempt): begin(attempt: attempt)
        case .starting: attemptFailed("no answer in time")
        case .connected:
            let silent = loop.now.since(lastHeard)
            guard silent >= options.serverTimeout else {
                deadline?.arm(at: lastHeard.advanced(by: options.serverTimeout))
                return
            }
            connection?.close()
            lost("server timeout elapsed without receiving a message from the server")
        case .idle, .closed: break
        }
    }

    private func keepAliveDue() {
        guard case .connected = state else { return }
        if loop.now.since(lastSent) >= options.keepAlive { send([.ping]) }
        keepAlive?.arm(at: lastSent.advanced(by: options.keepAlive))
    }

    // MARK: Coming and going

    func opened() {
        guard case .starting(let attempt) = state else { return }
        state = .connected
        lastHeard = loop.now
        deadline?.arm(at: lastHeard.advanced(by: options.serverTimeout))
        send([.ping])
        keepAlive?.arm(at: lastSent.advanced(by: options.keepAlive))
        observe(attempt == 0 ? .connected(id: connectionID) : .reconnected(id: connectionID))
    }

    func lost(_ reason: String) {
        guard case .connected = state else { return }
        connection = nil
        keepAlive?.cancel()
        guard !options.reconnectDelays.isEmpty else { return finish(reason) }
        state = .waiting(attempt: 1)
        deadline?.cancel()
        failPending("connection lost: \(reason)")
        observe(.lost(reason: reason))
        wait(for: 1)
    }

    func attemptFailed(_ reason: String) {
        guard case .starting(let attempt) = state else { return }
        let old = connection
        connection = nil
        old?.close()
        guard attempt > 0 else { return finish(reason) }
        state = .waiting(attempt: attempt + 1)
        observe(.retryFailed(attempt: attempt, reason: reason))
        guard attempt < options.reconnectDelays.count else { return finish(reason) }
        wait(for: attempt + 1)
    }

    private func wait(for attempt: Int) {
        guard case .waiting = state else { return }
        deadline?.arm(at: loop.now.advanced(by: options.reconnectDelays[attempt - 1]))
    }

    func finish(_ reason: String?) {
        if case .closed = state { return }
        state = .closed
        connection = nil
        deadline?.close()
        keepAlive?.close()
        deadline = nil
        keepAlive = nil
        failPending(reason ?? "connection closed")
        observe(.closed(reason: reason))
    }
}

package struct HubOptions: Sendable {
    package var url: HubURL
    /// Nanoseconds to wait before each attempt to reconnect, as @microsoft/signalr does; empty for none.
    package var reconnectDelays: [UInt64] = [0, 2_000_000_000, 10_000_000_000, 30_000_000_000]
    /// Silence of the server after which the connection counts as lost; also how long a handshake may take.
    package var serverTimeout: UInt64 = 30_000_000_000
    /// A ping after so much silence of our own.
    package var keepAlive: UInt64 = 15_000_000_000
    /// Nil to open the WebSocket without asking first.
    package var negotiateVersion: Int? = 1
    package var headers: [HeaderField] = []
    /// For keys and masks.
    package var seed: UInt64

    package init(url: HubURL, seed: UInt64) {
        self.url = url
        self.seed = seed
    }
}
