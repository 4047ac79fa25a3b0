internal import WiretapeBytes
internal import WiretapeRuntime

/// A client that was shown a flawed certificate and has finished its handshake all the same. Many look at the name only then, and
/// leave: one that goes without a word has refused the certificate. Hands on what comes.
final class JudgingClient: StreamHandler {
    private let handler: any StreamHandler
    /// Called when it has left so, with the reason; nil once it has said something.
    private var left: ((String) -> Void)?

    init(_ handler: any StreamHandler, left: @escaping (String) -> Void) {
        self.handler = handler
        self.left = left
    }

    func connected() { handler.connected() }

    func received(_ bytes: Span<UInt8>) {
        left = nil
        handler.received(bytes)
    }

    func receivedEnd() {
        leave()
        handler.receivedEnd()
    }

    func drained() { handler.drained() }

    func ended(_ how: StreamEnd) {
        if how != .aborted { leave() }
        left = nil
        handler.ended(how)
    }

    private func leave() {
        left?("the client left when it had seen the certificate")
        left = nil
    }
}
