import WiretapeBytes
import WiretapeRuntime

/// One end of a connection in a test: collects what comes and does what `onBytes` says.
final class ScriptedPeer: StreamHandler {
    var stream: (any ByteStream)?
    var received: [UInt8] = []
    var sawEnd = false
    var end: StreamEnd?
    var onConnect: (ScriptedPeer) -> Void = { _ in }
    /// Called after each piece with all that has come so far.
    var onBytes: (ScriptedPeer) -> Void = { _ in }
    var onEnd: (ScriptedPeer) -> Void = { $0.stream?.halfClose() }
    var didShut = false
    var didAnswer = false

    var text: String { String(decoding: received, as: UTF8.self) }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { stream?.write(bytes.span) }
    func shut() {
        guard !didShut else { return }
        didShut = true
        stream?.halfClose()
    }

    /// A server that says this when it has heard something, and no more.
    func answersOnce(_ text: String, then: @escaping (ScriptedPeer) -> Void = { _ in }) {
        onBytes = { peer in
            guard !peer.didAnswer else { return }
            peer.didAnswer = true
            peer.send(text)
            then(peer)
        }
    }

    /// Takes an accepted stream, and reads it.
    func serve(_ stream: any ByteStream) -> any StreamHandler {
        self.stream = stream
        stream.isReading = true
        return self
    }

    func connected() {
        stream?.isReading = true
        onConnect(self)
    }
    func received(_ bytes: Span<UInt8>) {
        received.append(copying: bytes)
        onBytes(self)
    }
    func receivedEnd() {
        sawEnd = true
        if !didShut {
            didShut = true
            onEnd(self)
        }
    }
    func drained() {}
    func ended(_ how: StreamEnd) {
        end = how
        stream = nil
    }
}
