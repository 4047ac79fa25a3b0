/// A connected stream of bytes. It has no `close`: a stream that has seen both ends (``halfClose()`` done and
/// ``StreamHandler/receivedEnd()`` told) closes itself after what is queued; ``reset()`` is the only abort. Exactly one
/// ``StreamHandler/ended(_:)`` follows.
package protocol ByteStream: AnyObject {
    /// Whether bytes of the peer are wanted. Off at the beginning.
    var isReading: Bool { get set }
    /// Bytes written that the kernel has not taken yet.
    var queued: Int { get }
    /// Bytes that the kernel took and the peer's kernel has not acknowledged. `Int.max` once the stream has failed: nobody knows what
    /// arrived.
    var unacknowledged: Int { get }
    /// Whether the peer's FIN has come to our kernel, also while nothing is read. It is told by ``StreamHandler/receivedEnd()``
    /// only once everything before it was read.
    var peerHasEnded: Bool { get }
    /// The other end's address, when known.
    var peer: Address? { get }
    /// Our end's address, when known.
    var local: Address? { get }
    /// Where an accepted connection was to go before the system redirected it here; nil: it was not redirected, or the system
    /// does not tell.
    var originalDestination: Address? { get }
    /// Writes or queues all of `bytes`; the span is not kept. Does nothing on a stream that has ended.
    func write(_ bytes: Span<UInt8>)
    /// FIN after what is queued. More writes are not allowed.
    func halfClose()
    /// From here on `handler` hears of the stream, in place of the one before it.
    func hand(to handler: any StreamHandler)
    /// RST now; what is queued is lost. `ended(.aborted)` follows.
    func reset()
}

extension ByteStream {
    package var local: Address? { nil }
    package var originalDestination: Address? { nil }
}

/// What a stream tells its owner. The stream keeps its handler until ``ended(_:)``, which never comes from within a call
/// that the owner makes on the stream.
package protocol StreamHandler: AnyObject {
    /// A stream made by ``Loop/connect(to:_:)`` is connected. Not called for accepted ones.
    func connected()
    /// Bytes of the peer. The span is gone when this returns.
    func received(_ bytes: Span<UInt8>)
    /// The peer's FIN: it sends nothing more.
    func receivedEnd()
    /// What was queued has gone below 32 KiB; again when more of it has left, and for certain when nothing is queued any
    /// more. Not told for bytes that the kernel took at once.
    func drained()
    /// The stream is gone. The last call.
    func ended(_ how: StreamEnd)
}

/// How a stream ended.
package enum StreamEnd: Hashable, Sendable {
    /// Both directions ended in order.
    case closed
    /// The peer sent an RST.
    case reset
    /// Our own ``ByteStream/reset()``, or the loop was shut down.
    case aborted
    /// The connection could not be made or failed: a short text such as `connection refused`.
    case failed(String)
}
