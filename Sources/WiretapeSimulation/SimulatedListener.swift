package import WiretapeRuntime

package final class SimulatedListener: Listener {
    package let address: Address
    let reusePort: Bool
    private(set) var accept: ((any ByteStream) -> any StreamHandler)?
    // Lifetime: the test keeps the loop until all is over.
    private unowned let loop: SimulatedLoop

    init(
        _ loop: SimulatedLoop, _ address: Address, reusePort: Bool,
        _ accept: @escaping (any ByteStream) -> any StreamHandler
    ) {
        self.loop = loop
        self.address = address
        self.reusePort = reusePort
        self.accept = accept
    }

    package func close() {
        guard accept != nil else { return }
        accept = nil
        loop.remove(self)
    }
}
