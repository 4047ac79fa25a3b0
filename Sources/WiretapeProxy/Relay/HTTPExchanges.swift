internal import WiretapeBytes
internal import WiretapeWire

/// The HTTP part of a relayed connection. It goes away when the connection is upgraded: an idle WebSocket pays nothing
/// for it.
final class HTTPExchanges {
    struct Exchange {
        var x: UInt32
        /// Asked for an upgrade, or is a CONNECT: no more requests are read until it is answered.
        var mayTunnel: Bool
        var isConnect: Bool
        /// Its final head has been passed on.
        var isAnswered = false
        /// What the answer is made from that leads the client back; nil: it is passed on as it is.
        var asked: LeadBack.Request?
    }

    /// More requests than these await their answers: the client waits.
    static let pipelineLimit = 256

    var requests = HTTPScanner(.toServer)
    var responses = HTTPScanner(.toClient)
    /// Awaiting answers, in order.
    var exchanges: [Exchange] = []
    var lastX: UInt32 = 0
    /// The exchange whose request is arriving.
    var requestX: UInt32 = 0
    var isInRequestBody = false
    var isInResponseBody = false
    /// When the first byte of a head that is not complete yet arrived.
    var requestSince: WireInstant?
    var responseSince: WireInstant?
    /// Bytes of a response head that is not complete yet.
    var partialResponse: [UInt8] = []
    /// An answer that waits until it is whole, since its body may lead the client away.
    var led: LeadBack.HeldAnswer?
    /// Written by the client after a request to upgrade.
    var held: [UInt8] = []
    /// What the client has said and nobody has looked at to its end: the beginning of a request's head, or what stands behind a
    /// request to upgrade.
    var unsent: [UInt8] { (requests.isInHead ? requests.partialHead : []) + held }
    /// For the server, which is not connected yet.
    var pending: [UInt8] = []
    /// The client has ended while the server was not connected yet.
    var endsAfterPending = false
    /// Answered by ourselves after all earlier exchanges: the client broke the protocol.
    var lastWords: [UInt8]?
    private let pressure: RelayPressure
    /// What has come of a head, as it was counted last.
    private var headCounted = 0

    init(_ pressure: RelayPressure) { self.pressure = pressure }

    deinit { _ = pressure.mayGoOn(head: 0, counted: &headCounted) }

    /// Counts what has come of a head that is not whole.
    /// - Returns: whether it may go on.
    func weighHead() -> Bool {
        pressure.mayGoOn(head: requests.isInHead ? requests.partialHead.count : 0, counted: &headCounted)
    }
}
