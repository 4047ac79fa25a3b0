internal import WiretapeBytes
internal import WiretapeWire

/// Answers that would lead the client away.
extension RelayConnection {
    /// Sends the head of an answer as it leads back, or keeps it until its body is whole.
    /// - Parameter before: what stands before the head and was not forwarded.
    /// - Returns: false when it goes on as it came.
    func lead(
        _ head: ResponseHead, _ info: HTTPHeadInfo, to asked: LeadBack.Request, _ before: Span<UInt8>
    ) -> Bool {
        guard let http, let server, let leadBack = node.leadBack else { return false }
        let edited = leadBack.towardsClient(head, info.raw, to: asked, at: node)
        let isHeld = leadBack.holds(head, info, to: asked)
        guard edited != nil || isHeld else { return false }
        let raw = edited ?? info.raw
        forward(before, from: server)
        if isHeld {
            http.led = LeadBack.HeldAnswer(raw: raw, head: head, request: asked)
        } else {
            forward(raw.span, from: server)
        }
        return true
    }

    /// Bytes of an answer's body, as they came.
    func pass(_ bytes: Span<UInt8>, of http: HTTPExchanges, from server: RelaySide) {
        guard http.led != nil else { return forward(bytes, from: server) }
        http.led?.raw.append(copying: bytes)
    }

    /// The same without their framing. A body that is too long passes, and what is kept of it.
    func collect(_ bytes: Span<UInt8>, of http: HTTPExchanges, from server: RelaySide) {
        http.led?.body.append(copying: bytes)
        guard let led = http.led, led.body.count > LeadBack.bodyLimit else { return }
        http.led = nil
        forward(led.raw.span, from: server)
    }

    /// The answer that was kept is whole.
    func passLed(of http: HTTPExchanges, from server: RelaySide) {
        guard let led = http.led else { return }
        http.led = nil
        let bytes = node.leadBack?.whole(led, at: node) ?? led.raw
        forward(bytes.span, from: server)
    }
}
