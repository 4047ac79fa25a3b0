internal import WiretapeBytes
package import WiretapeRuntime
internal import WiretapeTLS

/// What the inner stream tells. All of it comes from the loop.
extension TLSStream: StreamHandler {
    private static var noMachine: String { "cannot set up TLS" }

    package func connected() {
        phase = .handshake
        var hello: [UInt8] = []
        do {
            guard machine != nil else { return fail(Self.noMachine) }
            try machine?.start(reply: &hello)
        } catch {
            return fail(error.message)
        }
        inner?.write(hello.span)
        inner?.isReading = true
    }

    package func received(_ bytes: Span<UInt8>) {
        guard phase != .over, !hasSeenEnd else { return }
        if accept != nil, !hasHeard, let first = bytes.isEmpty ? nil : bytes[0], first != Self.handshakeRecord {
            return refusePlain(first)
        }
        hasHeard = true
        var reply: [UInt8] = []
        var plain: [UInt8] = []
        swap(&plain, &undelivered)
        do {
            guard let progress = try machine?.received(bytes, plain: &plain, reply: &reply) else {
                return fail(Self.noMachine)
            }
            swap(&plain, &undelivered)
            if !reply.isEmpty, !hasSentEnd { inner?.write(reply.span) }
            if progress == .opened || progress == .openedAndEnded { open() }
            if progress == .ended || progress == .openedAndEnded { hasSeenEnd = true }
            deliver()
        } catch {
            swap(&plain, &undelivered)
            // What came before the bad record is good.
            if !reply.isEmpty { inner?.write(reply.span) }
            if phase == .open { deliver() }
            fail(error.message)
        }
    }

    package func receivedEnd() {
        guard phase == .open else {
            return fail("the connection was closed in the middle of the TLS handshake")
        }
        if !hasSeenEnd {
            isTruncated = true
            hasSeenEnd = true
        }
        deliver()
    }

    package func drained() {
        if phase == .open { handler?.drained() }
    }

    package func ended(_ how: StreamEnd) {
        innerEnd = how
        switch (phase, how) {
        case (.over, _): finish()
        case (.handshake, .reset), (.handshake, .closed):
            fail("the connection was reset in the middle of the TLS handshake")
        case (.open, _): deliver()
        case (.connecting, _), (.handshake, .aborted), (.handshake, .failed): over(how)
        }
    }

    // MARK: Telling the owner

    /// The type of the record that a TLS connection begins with (RFC 8446 5.1).
    private static let handshakeRecord: UInt8 = 22

    /// A client that does not speak TLS. One that speaks HTTP, whose method begins with a letter, reads why.
    private func refusePlain(_ first: UInt8) {
        guard UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first else {
            return fail("the client does not speak TLS")
        }
        let text = "This port speaks TLS: use https:// or wss:// in place of http:// or ws://.\n"
        let answer =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
            + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
        inner?.write(Array(answer.utf8).span)
        fail("the client speaks plain HTTP; it has to use https:// or wss://")
    }

    private func open() {
        phase = .open
        stopRinging()
        let written = early
        early = []
        if !written.isEmpty { encrypt(written.span) }
        if wantsEnd { sendEnd() }
        if let accept {
            self.accept = nil
            refused = nil
            gone = nil
            handler = accept(self)
        } else {
            handler?.connected()
        }
        if !written.isEmpty, phase == .open, queued < 32768 { handler?.drained() }
        readInner()
    }

    /// Whether something waits for the owner to read.
    var hasUntold: Bool { !undelivered.isEmpty || hasSeenEnd && !hasToldEnd || innerEnd != nil }

    /// Tells what has come, in its order, as far as the owner wants it.
    func deliver() {
        guard phase == .open else { return }
        if wantsBytes, !undelivered.isEmpty {
            let bytes = undelivered
            undelivered = []
            handler?.received(bytes.span)
        }
        if phase == .open, wantsBytes, undelivered.isEmpty, hasSeenEnd, !hasToldEnd {
            hasToldEnd = true
            wantsBytes = false
            handler?.receivedEnd()
            if phase == .open { lingerWhenDone() }
        }
        // An end in order waits until the owner has read all; so does a reset that came after bytes.
        guard phase == .open, let how = innerEnd else { return readInner() }
        if isAborted || how == .aborted && !hasToldEnd {
            over(.aborted)
        } else if undelivered.isEmpty, !hasSeenEnd || hasToldEnd {
            // After both close_notifies it does not matter how the peer closes, or that it never does.
            over(hasSentEnd && hasToldEnd ? .closed : how)
        }
    }

    /// The inner stream is read while the owner reads and all before has been delivered.
    func readInner() {
        guard phase == .open, innerEnd == nil else { return }
        inner?.isReading = hasToldEnd ? hasSentEnd : wantsBytes && undelivered.isEmpty && !hasSeenEnd
    }

    /// The last word to the owner. The inner stream may live a little longer, to send an alert and a FIN.
    func over(_ how: StreamEnd) {
        guard phase != .over else { return }
        phase = .over
        undelivered = []
        early = []
        let handler = self.handler
        self.handler = nil
        accept = nil
        refused = nil
        if innerEnd != nil { finish() }
        handler?.ended(how)
    }

    /// TLS went wrong: the alert is on its way, the owner hears of it now.
    func fail(_ text: String) {
        guard phase != .over else { return }
        let refused = self.refused
        if phase != .connecting, innerEnd == nil, let inner {
            // FIN after the alert; a peer that does not answer with its own is reset.
            if !hasSentEnd { inner.halfClose() }
            hasSentEnd = true
            hasToldEnd = true
            inner.isReading = true
        }
        over(.failed(text))
        refused?(TLSError(.violation, text))
        timerIsFor = .nothing
        lingerWhenDone()
    }

    /// The inner stream is gone.
    private func finish() {
        inner = nil
        timer?.close()
        timer = nil
        timerIsFor = .nothing
        let gone = self.gone
        self.gone = nil
        gone?()
    }
}
