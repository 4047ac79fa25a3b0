internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// The TLS of a captured connection.
final class CapturedTLS {
    private let keys: KeyLog
    var onOpen: ((TapeEvent.TLSInfo) -> CapturedExchanges)?
    /// Why its content is not on the tape, or not all of it.
    private(set) var reason: CaptureClosed.Reason? = .noKeys(sni: nil)

    init(_ keys: KeyLog) {
        self.keys = keys
    }

    func received(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {}
    func missed(_ count: UInt64?, _ direction: Direction, at time: UInt64) {}
    func ended(_ direction: Direction, isReset: Bool, at time: UInt64) {}
    func finished(at time: UInt64) {}
}
