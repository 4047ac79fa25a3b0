internal import WiretapeBytes
internal import WiretapeRuntime

/// A client that there is no place for: it is answered without having been heard, and read until it ends, so that it
/// finds the answer. One that does not read, does not end or talks on is reset.
final class RefusedClient: StreamHandler, SeatedClient {
    private static let discardLimit = 64 << 10

    private let seat: Seat
    private var stream: (any ByteStream)?
    private var discarded = 0

    /// - Parameter words: 503, or what TLS has for it.
    init(_ stream: any ByteStream, _ words: [UInt8], _ seat: Seat, at now: WireInstant) {
        self.stream = stream
        self.seat = seat
        stream.write(words.span)
        stream.halfClose()
        stream.isReading = true
        seat.sit(self, .refused, at: now)
    }

    var isAwaited: Bool { true }
    func timedOut(_ phase: Seat.Phase, at now: WireInstant) { stream?.reset() }
    func giveWay(_ phase: Seat.Phase, at now: WireInstant) { stream?.reset() }

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        discarded += bytes.count
        if discarded > Self.discardLimit { stream?.reset() }
    }

    func receivedEnd() {}
    func drained() {}

    func ended(_ how: StreamEnd) {
        stream = nil
        seat.leave()
    }
}
