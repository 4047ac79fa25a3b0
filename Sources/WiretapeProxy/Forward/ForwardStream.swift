internal import WiretapeBytes
internal import WiretapeRuntime

/// What a client of a forward proxy says to one host, as a stream of its own: whoever serves it knows nothing of the proxy. It
/// writes to the client's own stream and is read from it, until it is retired: then another host is spoken to, and this one
/// is told that the client has ended.
final class ForwardStream: ByteStream {
    /// Kept until the stream is over.
    private var client: ForwardClient?
    private var handler: (any StreamHandler)?
    private var wantsBytes = false
    /// Came while nobody read.
    private var pending: [UInt8] = []
    /// The client's FIN; whether it was told.
    private var hasEnd = false, hasToldEnd = false
    private var hasSentEnd = false
    /// How the stream ended, until it is told.
    private var end: StreamEnd?
    private(set) var isRetired = false

    let peer: Address?

    init(_ client: ForwardClient) {
        self.client = client
        peer = client.outer.peer
    }

    // MARK: Calls of whoever serves it

    var isReading: Bool {
        get { wantsBytes }
        set {
            wantsBytes = newValue
            guard let client else { return }
            client.updateReading()
            if newValue, owes { client.ring() }
        }
    }

    var queued: Int { isRetired ? 0 : client?.outer.queued ?? 0 }
    var unacknowledged: Int { isRetired ? 0 : client?.outer.unacknowledged ?? 0 }
    var peerHasEnded: Bool { isRetired || client?.outer.peerHasEnded ?? true }

    func write(_ bytes: Span<UInt8>) {
        guard !isRetired, !hasSentEnd else { return }
        client?.write(bytes)
    }

    func hand(to handler: any StreamHandler) { self.handler = handler }

    func halfClose() {
        guard !hasSentEnd else { return }
        hasSentEnd = true
        if isRetired { finish(.closed) } else { client?.outer.halfClose() }
    }

    func reset() {
        if isRetired { finish(.aborted) } else { client?.outer.reset() }
    }

    // MARK: What the client's stream tells

    /// From here on `handler` hears of what comes, and of what has come.
    func begin(_ handler: any StreamHandler) {
        self.handler = handler
        settle()
    }

    func deliver(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        if wantsBytes, pending.isEmpty, let handler { return handler.received(bytes) }
        pending.append(copying: bytes)
    }

    func deliverEnd() {
        hasEnd = true
        settle()
    }

    func drained() { handler?.drained() }

    func ended(_ how: StreamEnd) {
        guard end == nil else { return }
        end = how
        settle()
    }

    /// Another host is spoken to from now on. Not from within a call of the handler.
    func retire() {
        isRetired = true
        hasEnd = true
        wantsBytes = true
        settle()
    }

    /// Whether something waits to be told.
    var owes: Bool { !pending.isEmpty || hasEnd && !hasToldEnd || end != nil }

    /// Tells what waits. Not from within a call of the handler.
    func settle() {
        guard let handler else { return }
        if wantsBytes, !pending.isEmpty {
            let bytes = pending
            pending = []
            handler.received(bytes.span)
        }
        if pending.isEmpty, hasEnd, !hasToldEnd {
            hasToldEnd = true
            handler.receivedEnd()
        }
        if let end {
            self.end = nil
            self.handler = nil
            let client = client
            self.client = nil
            handler.ended(end)
            client?.forget(self)
        }
    }

    private func finish(_ how: StreamEnd) {
        end = how
        client?.ring()
    }
}
