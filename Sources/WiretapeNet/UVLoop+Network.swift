internal import CWiretapeUV
internal import WiretapeBytes
package import WiretapeRuntime

extension UVLoop {
    package func connect(to address: Address, _ handler: any StreamHandler) -> any ByteStream {
        let stream = UVStream(self, handler)
        stream.connect(to: address)
        return stream
    }

    package func listen(
        on address: Address, reusePort: Bool, _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) throws(NetError) -> any Listener {
        guard !isShutDown else { throw NetError("listen", status: UV_ECANCELED.rawValue) }
        return try UVListener(self, address, reusePort: reusePort, accept)
    }

    /// Numeric hosts are answered without the system, in the next round of the loop. `localhost` and the names below it are
    /// `::1` first, then what the system says (RFC 6761 6.3). `done` is dropped when the loop is shut down before.
    package func resolve(
        _ host: String, port: UInt16, _ done: @escaping (Result<[Address], NetError>) -> Void
    ) {
        guard !isShutDown else { return }
        if let numeric = SocketAddress(Address(host: host, port: port))?.address {
            soon { done(.success([numeric])) }
        } else {
            Lookup.start(self, host: host, port: port, done)
        }
    }

    /// Runs `job` in the next round of the loop.
    func soon(_ job: @escaping () -> Void) {
        var timer: UVTimer?
        timer = UVTimer(self, holdsLoop: true) {
            timer?.close()
            timer = nil
            job()
        }
        timer?.arm(at: .zero)
    }
}
