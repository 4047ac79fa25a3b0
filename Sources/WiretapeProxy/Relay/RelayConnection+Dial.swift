internal import WiretapeBytes
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeWire

extension RelayConnection {
    /// Finds the upstream and tries its addresses in order.
    func connectServer() {
        let side = RelaySide(self, .toClient)
        setServer(side)
        client?.block(.connecting)
        node.dialer.find { [self] result in
            guard client != nil, server === side else { return }
            switch result {
            case .success(let addresses):
                dial = Dial(addresses: addresses)
                dialNext("no address")
            case .failure(let error):
                dial = Dial(addresses: [])
                dialNext(error.reason)
            }
        }
    }

    /// The server is not wanted any more, whether it is there or still looked for.
    func leaveServer() {
        if let stream = server?.stream { stream.reset() } else { setServer(nil) }
    }

    private func dialNext(_ why: String) {
        guard var dial, let server else { return }
        guard dial.next < dial.addresses.count else { return unreachable(why) }
        let address = dial.addresses[dial.next]
        dial.next += 1
        self.dial = dial
        if node.tap?.isHeld == true { server.block(.recorder) }
        server.stream = node.dialer.open(address, server)
        node.began(self)
    }

    func dialFailed(_ why: String) {
        guard var dial else { return }
        node.connected(self)
        let address = dial.next > 0 ? dial.addresses[dial.next - 1].description : ""
        dial.failures.append("\(address): \(why)")
        self.dial = dial
        if client == nil {
            setServer(nil)
            held?.close()
            return node.remove(self)
        }
        dialNext(why)
    }

    func connectTimedOut() {
        guard !isServerConnected, let stream = server?.stream, let client else { return }
        // The stream's own `ended(.aborted)` must not count: a side of its own takes its place.
        let side = RelaySide(self, .toClient)
        setServer(side)
        stream.reset()
        _ = client
        dialFailed("no answer within \(DurationText.spoken(node.options.connectTimeout))")
    }

    func serverConnected() {
        guard let server, let client, !isServerConnected else { return }
        isServerConnected = true
        node.connected(self)
        if let dial, dial.next > 1 { node.dialer.prefer(dial.addresses[dial.next - 1]) }
        dial = nil
        if let http {
            let pending = http.pending
            http.pending = []
            if !pending.isEmpty { forward(pending.span, from: client) }
            if http.endsAfterPending { server.halfClose() }
        }
        server.startReading()
        client.unblock(.connecting)
        held?.serverConnected()
    }

    /// No address answered: 502, in words, and on the tape.
    private func unreachable(_ why: String) {
        node.dialer.forget()
        let url = node.dialer.upstream.url
        let tried = dial?.failures ?? []
        dial = nil
        setServer(nil)
        let list = tried.isEmpty ? why : tried.joined(separator: "; ")
        node.failed("cannot reach \(url) (\(list))")
        let words = OwnAnswer.bytes(502, "cannot reach \(url) (\(list)). Is the server running?")
        if let held { return held.unreachable(words, at: node.loop.now) }
        finish(
            with: words,
            x: http?.exchanges.first?.x ?? 0, at: node.loop.now)
    }
}
