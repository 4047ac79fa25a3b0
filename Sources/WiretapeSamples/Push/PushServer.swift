package import WiretapeRuntime

/// The plainest WebSocket server that this stack can be: to every client's first message it answers with so many frames of
/// equal size, as fast as the client takes them. What a replay at speed `instant` is measured against.
package final class PushServer {
    let count: Int
    let payload: [UInt8]
    private var listener: (any Listener)?

    /// - Parameters:
    ///   - count: frames a client gets.
    ///   - size: payload bytes of each.
    package init(_ loop: any Loop, on address: Address, count: Int, size: Int) throws(NetError) {
        self.count = count
        payload = Array(repeating: UInt8(ascii: "x"), count: size)
        // Lifetime: the server keeps the listener, and closes it before it goes.
        listener = try loop.listen(on: address, reusePort: false) { [unowned self] stream in
            PushConnection(self, stream)
        }
    }

    package var address: Address { listener?.address ?? Address(host: "127.0.0.1", port: 0) }

    /// Stops accepting.
    package func close() { listener?.close() }
}
