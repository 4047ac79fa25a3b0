internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeRuntime
internal import WiretapeTLS

/// TLS over any stream of any loop, as a stream itself. ``StreamHandler/connected()`` comes after the handshake, and the
/// certificate has been judged by then. Half-closes are close_notify and FIN; a FIN without close_notify, which many servers
/// send, counts as the end too (``isTruncated``).
///
/// ``ByteStream/queued`` and ``ByteStream/unacknowledged`` count encrypted bytes, and before the handshake those written so
/// far. Memory: what one read of the loop gave, at most, is kept when the owner stops reading in the middle of it.
package final class TLSStream: ByteStream {
    /// Where the connection is in its life.
    enum Phase { case connecting, handshake, open, over }

    let loop: any Loop
    /// Nil when OpenSSL could not make one: the connection fails when it is there.
    var machine: TLSMachine?
    var phase = Phase.connecting
    var inner: (any ByteStream)?
    var handler: (any StreamHandler)?
    /// Chooses the handler of an accepted stream once its handshake is done.
    var accept: ((TLSStream) -> any StreamHandler)?
    /// Hears of accepted streams whose handshake fails.
    var refused: ((TLSError) -> Void)?
    /// Hears of the end of accepted streams whose handshake was not done.
    var gone: (() -> Void)?
    /// Something of the peer's handshake has come.
    var hasHeard = false

    /// Written before the handshake was done.
    var early: [UInt8] = []
    /// Decrypted while the owner does not read.
    var undelivered: [UInt8] = []
    var wantsBytes = false
    var wantsEnd = false, hasSentEnd = false
    /// The peer's end has come; the owner was told of it.
    var hasSeenEnd = false, hasToldEnd = false
    /// How the inner stream ended. Bytes that came before may not be delivered yet.
    var innerEnd: StreamEnd?
    /// The owner has called ``reset()``.
    var isAborted = false
    /// Rings for what must not be told from within a call of the owner, and for peers that do not close.
    var timer: (any LoopTimer)?
    var timerIsFor = TimerUse.nothing
    enum TimerUse { case nothing, handshake, delivery, failure(String), lingering }

    /// The peer's FIN came without its close_notify: someone may have cut the stream.
    package internal(set) var isTruncated = false

    init(_ loop: any Loop, _ machine: consuming TLSMachine?) {
        self.loop = loop
        self.machine = machine
    }

    /// `TLSv1.3`, when the handshake is done.
    package var version: String? { phase == .open ? machine?.version : nil }
    /// The protocol agreed on by ALPN, or nil.
    package var applicationProtocol: String? { phase == .open ? machine?.applicationProtocol : nil }
    /// The name that the client asked for, or nil.
    package var serverName: String? { machine?.serverName }

    /// What a tape tells of the connection.
    package var told: TapeEvent.TLSInfo? {
        version.map {
            TapeEvent.TLSInfo(version: $0, alpn: applicationProtocol, sni: serverName, client: machine?.peerSubject)
        }
    }

    package var peer: Address? { inner?.peer }
    package var local: Address? { inner?.local }
    package var peerHasEnded: Bool { inner?.peerHasEnded ?? false }
    package var unacknowledged: Int { inner?.unacknowledged ?? 0 }
    package var queued: Int { phase == .over ? 0 : early.count + (inner?.queued ?? 0) }

    // MARK: Calls of the owner

    package var isReading: Bool {
        get { wantsBytes }
        set {
            guard wantsBytes != newValue, phase != .over, !hasToldEnd else { return }
            wantsBytes = newValue
            guard phase == .open else { return }
            if newValue, hasUntold { ring(.delivery) }
            readInner()
        }
    }

    package func write(_ bytes: Span<UInt8>) {
        guard !wantsEnd, !bytes.isEmpty else { return }
        switch phase {
        case .connecting, .handshake: early.append(copying: bytes)
        case .open: encrypt(bytes)
        case .over: break
        }
    }

    package func hand(to handler: any StreamHandler) { self.handler = handler }

    package func halfClose() {
        guard !wantsEnd, phase != .over else { return }
        wantsEnd = true
        if phase == .open { sendEnd() }
    }

    package func reset() {
        guard phase != .over else { return }
        isAborted = true
        undelivered = []
        if innerEnd != nil {
            // The inner stream is gone already.
            ring(.delivery)
        } else {
            inner?.reset()
        }
    }

    // MARK: Sending

    func encrypt(_ bytes: Span<UInt8>) {
        var cipher: [UInt8] = []
        do {
            try machine?.send(bytes, into: &cipher)
        } catch {
            ring(.failure(error.message))
        }
        if !cipher.isEmpty { inner?.write(cipher.span) }
    }

    func sendEnd() {
        guard !hasSentEnd else { return }
        hasSentEnd = true
        var cipher: [UInt8] = []
        machine?.sendEnd(into: &cipher)
        if !cipher.isEmpty { inner?.write(cipher.span) }
        inner?.halfClose()
        lingerWhenDone()
    }

    // MARK: Later

    /// One timer serves all, and keeps this stream alive until ``finish()``: a failure goes before a delivery, both before the wait for the peer's FIN.
    /// - Parameter instant: nil for at once.
    func ring(_ use: TimerUse, at instant: WireInstant? = nil) {
        if case .failure = timerIsFor { return }
        timerIsFor = use
        let timer = timer ?? loop.timer { [self] in rang() }
        self.timer = timer
        timer.arm(at: instant ?? loop.now)
    }

    /// The handshake is done in time.
    func stopRinging() {
        guard case .handshake = timerIsFor else { return }
        timerIsFor = .nothing
        timer?.cancel()
    }

    /// Both directions have ended for the owner, but a stream ends with the peer's FIN. One that does not come is not
    /// waited for: five seconds for what is on its way, then an end that costs nobody anything.
    func lingerWhenDone() {
        guard hasSentEnd, hasToldEnd, innerEnd == nil, case .nothing = timerIsFor else { return }
        inner?.isReading = true
        ring(.lingering, at: loop.now.advanced(by: 5_000_000_000))
    }

    private func rang() {
        let use = timerIsFor
        timerIsFor = .nothing
        switch use {
        case .nothing: break
        case .handshake: fail("the TLS handshake took too long")
        case .delivery: deliver()
        case .failure(let text): fail(text)
        case .lingering: inner?.reset()
        }
    }
}
