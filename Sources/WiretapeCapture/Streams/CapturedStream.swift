internal import WiretapeBytes
internal import WiretapePackets
internal import WiretapeProtocol
internal import WiretapeWire

/// One TCP connection of a capture: finds out who its client is and whether they speak TLS, and hands the bytes to whoever reads them.
final class CapturedStream: TCPStreamHandler {
    private enum Layer {
        /// The client's first bytes, so few that they tell nothing.
        case undecided([UInt8])
        /// The beginning is missing: a packet that begins with a message is looked for.
        case searching
        case plain(CapturedContent)
        case tls(CapturedTLS)
        /// Nothing of it is on the tape, which has been told.
        case closed
    }

    private let key: TCPTable.Key
    private let keys: KeyLog
    private let output: CaptureOutput
    private var client: TCPSide?
    private var openedAt: UInt64?
    private var layer = Layer.undecided([])
    /// Which sides have bytes before their first ones that nobody has.
    private var isCut: Set<TCPSide> = []
    private var hasBytes = false

    /// - Parameter ports: of servers; empty: not known.
    init(_ key: TCPTable.Key, ports: Set<UInt16>, keys: KeyLog, _ output: CaptureOutput) {
        self.key = key
        self.keys = keys
        self.output = output
        // Where the capture is asked for by the servers' ports, they tell who is who.
        switch (ports.contains(key.one.port), ports.contains(key.two.port)) {
        case (true, false): client = .two
        case (false, true): client = .one
        case (true, true), (false, false): break
        }
    }

    func opened(by client: TCPSide, at time: UInt64) {
        guard openedAt == nil else { return }
        openedAt = time
        self.client = client
    }

    // MARK: Bytes

    func received(_ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64) {
        hasBytes = true
        switch layer {
        case .undecided(let first): decide(first, bytes, from: side, at: time)
        case .searching: search(bytes, from: side, at: time)
        case .plain(let content): content.received(bytes, direction(side), at: time)
        case .tls(let tls): tls.received(bytes, direction(side), at: time)
        case .closed: break
        }
    }

    private func direction(_ side: TCPSide) -> Direction { side == client ? .toServer : .toClient }

    private func decide(_ first: [UInt8], _ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64) {
        guard isCut.isEmpty, openedAt != nil, side == client else {
            if openedAt != nil, isCut.isEmpty { return close(.otherProtocol) }
            layer = .searching
            return search(bytes, from: side, at: time)
        }
        var all = first
        all.append(copying: bytes)
        switch MessageStart.client(all.span) {
        case .undecided: layer = .undecided(all)
        case .tls: beginTLS(all.span, at: time)
        case .http, .http2, .other:
            let content = makeContent()
            layer = .plain(content)
            content.received(all.span, .toServer, at: time)
        }
    }

    /// The first bytes that are there may stand anywhere in the stream.
    private func search(_ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64) {
        let guess = MessageStart.client(bytes)
        if case .tls = guess, client == nil || client == side {
            client = side
            return beginTLS(bytes, at: time)
        }
        let isRequest = MessageStart.isRequest(bytes)
        guard isRequest || MessageStart.isResponse(bytes) else {
            output.report.unreadBytes += UInt64(bytes.count)
            return
        }
        client = isRequest ? side : side.other
        let content = makeContent()
        layer = .plain(content)
        for side in TCPSide.allCases where openedAt == nil || isCut.contains(side) {
            content.missed(nil, direction(side), at: time)
        }
        content.received(bytes, direction(side), at: time)
    }

    private func makeContent() -> CapturedContent {
        CapturedContent(from: clientEnd.text, to: serverEnd.text, openedAt: openedAt, output)
    }

    private var clientEnd: TCPEndpoint { (client ?? .one) == .one ? key.one : key.two }
    private var serverEnd: TCPEndpoint { (client ?? .one) == .one ? key.two : key.one }

    private func beginTLS(_ bytes: Span<UInt8>, at time: UInt64) {
        let tls = CapturedTLS(keys, makeContent())
        layer = .tls(tls)
        tls.received(bytes, .toServer, at: time)
    }

    private func close(_ reason: CaptureClosed.Reason) {
        layer = .closed
        output.close(CaptureClosed(from: clientEnd.text, to: serverEnd.text, reason: reason))
    }

    // MARK: Gaps and ends

    func missed(_ count: UInt64?, from side: TCPSide, at time: UInt64) {
        switch layer {
        case .undecided, .searching:
            isCut.insert(side)
            layer = .searching
        case .plain(let content): content.missed(count, direction(side), at: time)
        case .tls(let tls): tls.missed(count, direction(side), at: time)
        case .closed: break
        }
    }

    func ended(_ side: TCPSide, isReset: Bool, at time: UInt64) {
        switch layer {
        case .plain(let content): content.ended(direction(side), isReset: isReset, at: time)
        case .tls(let tls): tls.ended(direction(side), isReset: isReset, at: time)
        case .undecided, .searching, .closed: break
        }
    }

    func finished(at time: UInt64) {
        switch layer {
        case .plain(let content): content.finished(at: time)
        case .tls(let tls): tls.finished(at: time)
        case .searching: close(hasBytes ? .noBeginning : .noBytes)
        case .undecided(let first): if !first.isEmpty { close(.otherProtocol) }
        case .closed: break
        }
    }
}
