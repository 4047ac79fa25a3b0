import WiretapeBytes
import WiretapeRuntime

/// Sends back what it gets, and ends when the other side does. Holds back its reading while much is queued.
final class EchoPeer: StreamHandler {
    let stream: any ByteStream
    private(set) var end: StreamEnd?
    private(set) var mostQueued = 0
    private(set) var callsAfterEnd = 0

    init(_ stream: any ByteStream) {
        self.stream = stream
        stream.isReading = true
    }

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        if end != nil { callsAfterEnd += 1 }
        stream.write(bytes)
        mostQueued = max(mostQueued, stream.queued)
        if stream.queued > 65_536 { stream.isReading = false }
    }

    func receivedEnd() {
        if end != nil { callsAfterEnd += 1 }
        stream.halfClose()
    }

    func drained() {
        if end != nil { callsAfterEnd += 1 }
        stream.isReading = true
    }

    func ended(_ how: StreamEnd) {
        if end != nil { callsAfterEnd += 1 }
        end = how
    }
}

/// Sends all it has to say, then FIN, and keeps what comes back.
final class SayingPeer: StreamHandler {
    private let say: [UInt8]
    var stream: (any ByteStream)?
    private(set) var heard: [UInt8] = []
    private(set) var sawEnd = false
    private(set) var end: StreamEnd?
    private(set) var calls = 0
    private(set) var callsAfterEnd = 0
    var whenEnded: () -> Void = {}

    init(_ say: [UInt8]) { self.say = say }

    private func called() {
        calls += 1
        if end != nil { callsAfterEnd += 1 }
    }

    func connected() {
        called()
        stream?.isReading = true
        let bytes = say
        stream?.write(bytes.span)
        stream?.halfClose()
    }

    func received(_ bytes: Span<UInt8>) {
        called()
        heard.append(copying: bytes)
    }

    func receivedEnd() {
        called()
        sawEnd = true
    }

    func drained() { called() }

    func ended(_ how: StreamEnd) {
        called()
        end = how
        whenEnded()
    }
}
