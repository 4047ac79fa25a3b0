internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// One TCP connection of a capture: finds out who its client is and what they speak, and hands the bytes to whoever reads that.
final class CapturedStream: TCPStreamHandler {
    private enum Content {
        /// The client's first bytes, so few that they tell nothing.
        case undecided([UInt8])
        /// The beginning is missing: a packet that begins with a message is looked for.
        case searching
        case http(CapturedExchanges)
        case http2(HTTP2Counter)
        case tls(CapturedTLS)
        /// Nothing of it is on the tape. `nil`: it has been told.
        case closed
    }

    private let key: TCPTable.Key
    private let ports: Set<UInt16>
    private let keys: KeyLog
    private let output: CaptureOutput
    private var client: TCPSide?
    private var openedAt: UInt64?
    private var content = Content.undecided([])
    /// Which sides have bytes before their first ones that nobody has.
    private var isCut: Set<TCPSide> = []
    private var hasBytes = false

    init(_ key: TCPTable.Key, ports: Set<UInt16>, keys: KeyLog, _ output: CaptureOutput) {
        self.key = key
        self.ports = ports
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
        switch content {
        case .undecided(let first): decide(first, bytes, from: side, at: time)
        case .searching: search(bytes, from: side, at: time)
        case .http(let exchanges): exchanges.received(bytes, direction(side), at: time)
        case .http2(var counter):
            if side == client { counter.received(bytes) }
            content = .http2(counter)
        case .tls(let tls): tls.received(bytes, direction(side), at: time)
        case .closed: break
        }
    }

    private func direction(_ side: TCPSide) -> Direction { side == client ? .toServer : .toClient }

    private func decide(_ first: [UInt8], _ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64) {
        guard isCut.isEmpty, openedAt != nil, let client else {
            content = .searching
            return search(bytes, from: side, at: time)
        }
        // A server that speaks first speaks no HTTP.
        guard side == client else { return close(.otherProtocol) }
        var all = first
        all.append(copying: bytes)
        switch MessageStart.client(all.span) {
        case .undecided: content = .undecided(all)
        case .other: close(.otherProtocol)
        case .http:
            let exchanges = CapturedExchanges(opening(nil), at: openedAt ?? time, output)
            content = .http(exchanges)
            exchanges.received(all.span, .toServer, at: time)
        case .http2:
            var counter = HTTP2Counter()
            counter.received(all.span)
            content = .http2(counter)
        case .tls: beginTLS(all.span, at: time)
        }
    }

    /// The first bytes that are there may stand anywhere in the stream.
    private func search(_ bytes: Span<UInt8>, from side: TCPSide, at time: UInt64) {
        if client == nil || client == side, isCut.isEmpty || !isCut.contains(side),
            case .tls = MessageStart.client(bytes)
        {
            client = side
            return beginTLS(bytes, at: time)
        }
        let isRequest = MessageStart.isRequest(bytes)
        guard isRequest || MessageStart.isResponse(bytes) else {
            output.report.unreadBytes += UInt64(bytes.count)
            return
        }
        client = isRequest ? side : side.other
        let exchanges = CapturedExchanges(opening(nil), at: openedAt ?? time, output)
        content = .http(exchanges)
        for direction in Direction.allCases {
            let side = direction == .toServer ? client : client?.other
            if openedAt == nil || side.map(isCut.contains) == true { exchanges.missed(nil, direction, at: time) }
        }
        exchanges.received(bytes, direction(side), at: time)
    }

    private func opening(_ tls: TapeEvent.TLSInfo?) -> TapeEvent.Open {
        let url = tls == nil ? "http://\(serverEnd.text)" : "https://\(serverEnd.text)"
        return TapeEvent.Open(from: clientEnd.text, to: serverEnd.text, upstream: output.name(of: url), tls: tls)
    }

    private var clientEnd: TCPEndpoint { (client ?? .one) == .one ? key.one : key.two }
    private var serverEnd: TCPEndpoint { (client ?? .one) == .one ? key.two : key.one }

    private func beginTLS(_ bytes: Span<UInt8>, at time: UInt64) {
        let tls = CapturedTLS(keys)
        tls.onOpen = { [unowned self, openedAt, output] info in
            CapturedExchanges(opening(info), at: openedAt ?? time, output)
        }
        content = .tls(tls)
        tls.received(bytes, .toServer, at: time)
    }

    private func close(_ reason: CaptureClosed.Reason) {
        content = .closed
        output.close(CaptureClosed(from: clientEnd.text, to: serverEnd.text, reason: reason))
    }

    // MARK: Gaps and ends

    func missed(_ count: UInt64?, from side: TCPSide, at time: UInt64) {
        switch content {
        case .undecided, .searching:
            isCut.insert(side)
            content = .searching
        case .http(let exchanges): exchanges.missed(count, direction(side), at: time)
        case .http2(var counter):
            if side == client { counter.missed(count) }
            content = .http2(counter)
        case .tls(let tls): tls.missed(count, direction(side), at: time)
        case .closed: break
        }
    }

    func ended(_ side: TCPSide, isReset: Bool, at time: UInt64) {
        switch content {
        case .http(let exchanges): exchanges.ended(direction(side), isReset: isReset, at: time)
        case .tls(let tls): tls.ended(direction(side), isReset: isReset, at: time)
        case .undecided, .searching, .http2, .closed: break
        }
    }

    func finished(at time: UInt64) {
        switch content {
        case .http(let exchanges): exchanges.finished(at: time)
        case .http2(let counter): close(.http2(streams: counter.streams))
        case .tls(let tls):
            tls.finished(at: time)
            if let reason = tls.reason { close(reason) }
        case .searching: if hasBytes { close(.noBeginning) }
        case .undecided(let first): if !first.isEmpty { close(.otherProtocol) }
        case .closed: break
        }
    }
}
