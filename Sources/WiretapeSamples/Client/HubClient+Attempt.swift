internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// From a name to a connection whose handshake is done.
extension HubClient {
    func begin(attempt: Int) {
        state = .starting(attempt: attempt)
        isShaken = false
        connectionID = ""
        if attempt > 0 { observe(.retrying(attempt: attempt, delay: options.reconnectDelays[attempt - 1])) }
        guard case .starting(attempt) = state else { return }
        deadline?.arm(at: loop.now.advanced(by: options.serverTimeout))
        loop.resolve(options.url.host, port: options.url.port) { [weak self] result in
            guard let self, case .starting(attempt) = self.state else { return }
            switch result {
            case .success(let addresses):
                self.addresses = addresses
                if let version = self.options.negotiateVersion {
                    self.negotiate(version)
                } else {
                    self.open(token: nil)
                }
            case .failure(let error): self.attemptFailed("\(self.options.url.host): \(error.reason)")
            }
        }
    }

    private func negotiate(_ version: Int) {
        var head: [UInt8] = []
        let target = options.url.target("/negotiate", adding: "negotiateVersion=\(version)")
        write("POST", target, [HeaderField("Content-Length", "0"), HeaderField("Accept", "*/*")], into: &head)
        connect(head, key: nil) { client, event in
            switch event {
            case .response(let head, let body):
                client.connection = nil
                client.negotiated(head, body)
            case .ended(let reason): client.attemptFailed("negotiate: \(reason)")
            case .opened, .message: break
            }
        }
    }

    private func negotiated(_ head: ResponseHead, _ body: [UInt8]) {
        guard head.status == 200 else { return attemptFailed("negotiate: \(head.status)") }
        guard let json = try? JSONValue(parsing: body) else { return attemptFailed("negotiate: not JSON") }
        if let error = json["error"]?.string { return attemptFailed("negotiate: \(error)") }
        guard let id = json["connectionId"]?.string else { return attemptFailed("negotiate: no connectionId") }
        guard (json["availableTransports"]?.array ?? []).contains(where: { $0["transport"]?.string == "WebSockets" })
        else { return attemptFailed("negotiate: no WebSockets") }
        connectionID = id
        open(token: json["connectionToken"]?.string ?? id)
    }

    private func open(token: String?) {
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            let word = random.next()
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) }
        }
        let key = Base64.encode(bytes.span)
        var head: [UInt8] = []
        write(
            "GET", options.url.target("", adding: token.map { "id=" + $0 }),
            [
                HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket"),
                HeaderField("Sec-WebSocket-Version", "13"), HeaderField("Sec-WebSocket-Key", key),
            ], into: &head)
        connect(head, key: key) { client, event in
            switch event {
            case .opened: client.connection?.send(Array("{\"protocol\":\"json\",\"version\":1}\u{1e}".utf8))
            case .message(let payload): client.received(payload)
            case .response(let head, _): client.attemptFailed("WebSocket: \(head.status)")
            case .ended(let reason):
                if client.isConnected { client.lost(reason) } else { client.attemptFailed(reason) }
            }
        }
    }

    private func write(_ method: String, _ target: String, _ fields: [HeaderField], into head: inout [UInt8]) {
        head.append(utf8: "\(method) \(target) HTTP/1.1\r\nHost: \(options.url.authority)\r\n")
        head.append(utf8: "User-Agent: wiretape-sample\r\n")
        for field in options.headers + fields { head.append(utf8: "\(field.name): \(field.value)\r\n") }
        head.append(utf8: "\r\n")
    }

    /// What an abandoned connection still tells is dropped.
    private func connect(
        _ request: [UInt8], key: String?, _ tell: @escaping (HubClient, HTTPClientConnection.Event) -> Void
    ) {
        attempts += 1
        let mine = attempts
        connection = HTTPClientConnection(loop, addresses, request: request, key: key, seed: random.next()) {
            [weak self] event in
            guard let self, self.attempts == mine, self.connection != nil else { return }
            tell(self, event)
        }
    }

    // MARK: Messages

    private func received(_ payload: [UInt8]) {
        lastHeard = loop.now
        let span = payload.span
        let records: [Range<Int>]
        do throws(HubMessage.Malformed) { records = try HubMessage.records(span) } catch {
            return broken(error.reason)
        }
        for record in records {
            // A message may end the connection.
            guard connection != nil else { return }
            if !isShaken {
                shake(span.extracting(record))
                continue
            }
            do throws(HubMessage.Malformed) {
                handle(try HubMessage(reading: span.extracting(record)))
            } catch {
                return broken(error.reason)
            }
        }
    }

    private func shake(_ record: Span<UInt8>) {
        guard let answer = try? JSONValue(parsing: record), answer.members != nil else {
            return attemptFailed("handshake: not JSON")
        }
        if let error = answer["error"]?.string { return attemptFailed("handshake: \(error)") }
        isShaken = true
        opened()
    }

    private func broken(_ reason: String) {
        connection?.close()
        if isConnected { lost(reason) } else { attemptFailed(reason) }
    }

    func send(_ messages: [HubMessage]) {
        var payload: [UInt8] = []
        for message in messages { message.write(into: &payload) }
        lastSent = loop.now
        connection?.send(payload)
    }
}
