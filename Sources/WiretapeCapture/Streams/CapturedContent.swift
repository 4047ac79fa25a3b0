internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// What a captured client and its server say to each other, in the clear: HTTP/1.1, or something that is only counted.
final class CapturedContent {
    private enum Speech {
        /// The client's first bytes, so few that they tell nothing.
        case undecided([UInt8])
        case http(CapturedExchanges)
        case http2(HTTP2Counter)
        case closed
    }

    private let output: CaptureOutput
    private let from: String
    private let to: String
    private let openedAt: UInt64?
    private var spoken = Speech.undecided([])
    /// Set while nothing has been said yet.
    var tls: TapeEvent.TLSInfo?
    /// Directions whose first bytes are missing.
    private var isCut: [Direction] = []
    private var heard: Set<Direction> = []

    init(from: String, to: String, openedAt: UInt64?, _ output: CaptureOutput) {
        self.from = from
        self.to = to
        self.openedAt = openedAt
        self.output = output
    }

    /// Whether nothing was received, nor missed.
    var isUntouched: Bool { heard.isEmpty && isCut.isEmpty }

    /// Whether nothing of this direction was received.
    func isEmpty(_ direction: Direction) -> Bool { !heard.contains(direction) }

    func received(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {
        heard.insert(direction)
        switch spoken {
        case .undecided(let first): decide(first, bytes, direction, at: time)
        case .http(let exchanges): exchanges.received(bytes, direction, at: time)
        case .http2(var counter):
            if direction == .toServer { counter.received(bytes) }
            spoken = .http2(counter)
        case .closed: break
        }
    }

    private func decide(_ first: [UInt8], _ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {
        guard isCut.isEmpty else { return search(bytes, direction, at: time) }
        // A server that speaks first speaks no HTTP/1.1; one of HTTP/2 may.
        guard direction == .toServer else {
            if tls?.alpn == "h2" { return }
            return close(.otherProtocol)
        }
        var all = first
        all.append(copying: bytes)
        switch MessageStart.client(all.span) {
        case .undecided: spoken = .undecided(all)
        case .other, .tls: close(.otherProtocol)
        case .http: begin(at: time).received(all.span, .toServer, at: time)
        case .http2:
            var counter = HTTP2Counter()
            counter.received(all.span)
            spoken = .http2(counter)
        }
    }

    /// Bytes before these are missing: a message is looked for.
    private func search(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {
        guard direction == .toServer ? MessageStart.isRequest(bytes) : MessageStart.isResponse(bytes) else {
            output.report.unreadBytes += UInt64(bytes.count)
            return
        }
        let exchanges = begin(at: time)
        for direction in isCut { exchanges.missed(nil, direction, at: time) }
        exchanges.received(bytes, direction, at: time)
    }

    private func begin(at time: UInt64) -> CapturedExchanges {
        let scheme = tls == nil ? "http" : "https"
        let port = to.split(separator: ":").last.map(String.init) ?? ""
        let host = tls?.sni.map { "\($0):\(port)" } ?? to
        let open = TapeEvent.Open(from: from, to: to, upstream: output.name(of: "\(scheme)://\(host)"), tls: tls)
        let exchanges = CapturedExchanges(open, at: openedAt ?? time, output)
        spoken = .http(exchanges)
        return exchanges
    }

    /// - Parameter isPartly: some of it is on the tape.
    private func close(_ reason: CaptureClosed.Reason, isPartly: Bool = false) {
        spoken = .closed
        output.close(CaptureClosed(from: from, to: to, reason: reason, isPartly: isPartly))
    }

    func missed(_ count: UInt64?, _ direction: Direction, at time: UInt64) {
        switch spoken {
        case .undecided:
            spoken = .undecided([])
            if !isCut.contains(direction) { isCut.append(direction) }
        case .http(let exchanges): exchanges.missed(count, direction, at: time)
        case .http2(var counter):
            if direction == .toServer { counter.missed(count) }
            spoken = .http2(counter)
        case .closed: break
        }
    }

    func ended(_ direction: Direction, isReset: Bool, at time: UInt64) {
        switch spoken {
        case .http(let exchanges): exchanges.ended(direction, isReset: isReset, at: time)
        case .undecided, .http2, .closed: break
        }
    }

    /// - Parameter sealed: why what was said could not be decrypted, or not all of it; nil: it was.
    func finished(at time: UInt64, sealed: CaptureClosed.Reason? = nil) {
        switch spoken {
        case .http(let exchanges):
            exchanges.finished(at: time)
            if let sealed { close(sealed, isPartly: true) }
        case .http2(let counter): close(.http2(streams: counter.streams))
        case .undecided(let first):
            if let sealed {
                close(sealed)
            } else if !first.isEmpty {
                close(.otherProtocol)
            } else if !heard.isEmpty {
                // Its server's first word alone was heard.
                close(tls?.alpn == "h2" ? .http2(streams: 0) : .noBeginning)
            } else if !isCut.isEmpty {
                close(.noBytes)
            } else if tls != nil {
                close(.silent)
            }
        case .closed: break
        }
    }
}
