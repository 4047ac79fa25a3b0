internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

extension RelayConnection {
    /// Reaches the upstream.
    /// - Parameter isTunnel: the first request asks for an upgrade.
    func connectServer(isTunnel: Bool) {
        let side = RelaySide(self, .toClient)
        setServer(side)
        client?.block(.connecting)
        if node.tap?.isHeld == true { side.block(.recorder) }
        isAskedOfProxy = node.dialer.isAsked(isTunnel: isTunnel)
        dialing = node.dialer.dial(isTunnel: isTunnel, for: seat) { [self] outcome in
            dialing = nil
            switch outcome {
            case .connected(let stream): serverConnected(stream, side)
            case .failed(let tried): unreachable(tried)
            case .noPlace: hasNoPlace()
            }
        }
    }

    /// The server is not wanted any more, whether it is there or still looked for.
    func leaveServer() {
        if let dialing {
            dialing.cancel()
            self.dialing = nil
            setServer(nil)
        } else if let stream = server?.stream {
            stream.reset()
        } else {
            setServer(nil)
        }
    }

    /// The bytes of a request's head as the server gets them, or the proxy before it.
    func towardsServer(_ raw: [UInt8], _ asked: LeadBack.Request?) -> [UInt8] {
        var raw = raw
        if let asked, let leadBack = node.leadBack { raw = leadBack.towardsServer(asked, raw, at: node) }
        if !node.options.keepHost {
            raw = HTTPHeadWriter.rewritingHost(raw, to: node.dialer.upstream.authority)
        }
        guard isAskedOfProxy else { return raw }
        return HTTPHeadWriter.absoluteForm(
            raw, of: node.dialer.upstream.authority, authorization: node.dialer.via?.authorization)
    }

    private func serverConnected(_ stream: any ByteStream, _ side: RelaySide) {
        guard server === side, let client else { return stream.reset() }
        side.stream = stream
        stream.hand(to: side)
        isServerConnected = true
        if let http {
            let pending = http.pending
            http.pending = []
            if !pending.isEmpty { forward(pending.span, from: client) }
            if http.endsAfterPending { side.halfClose() }
        }
        side.startReading()
        client.unblock(.connecting)
        held?.serverConnected()
    }

    /// Nobody gave way for the connection to the server: 503, and on the tape.
    private func hasNoPlace() {
        setServer(nil)
        guard client != nil else {
            held?.close()
            return node.remove(self)
        }
        leave(with: OwnAnswer.noPlace, 503)
    }

    private func leave(with words: [UInt8], _ status: Int) {
        if let held { return held.unreachable(words, status, at: node.loop.now) }
        finish(with: words, x: http?.exchanges.first?.x ?? 0, at: node.loop.now)
    }

    /// No address answered: 502, in words, and on the tape.
    private func unreachable(_ tried: [String]) {
        let url = node.dialer.upstream.url
        setServer(nil)
        guard client != nil else {
            held?.close()
            return node.remove(self)
        }
        let through = node.dialer.via.map { " through \($0)" } ?? ""
        let list = "cannot reach \(url)\(through) (\(tried.joined(separator: "; ")))"
        node.failed(list)
        leave(with: OwnAnswer.bytes(502, "\(list). Is the server running?"), 502)
    }
}
