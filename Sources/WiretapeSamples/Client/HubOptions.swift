package import WiretapeWire

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
