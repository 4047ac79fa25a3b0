internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeRuntime
internal import WiretapeWire

/// What rules do to the bytes of a connection.
extension ReplayConnection {
    /// How often a client that is not read is looked at.
    private static let peekInterval: UInt64 = 20_000_000

    /// What was said before leaves as it would; of the rest so many bytes.
    func limit(_ count: Int) {
        write()
        output.limit(count)
    }

    func pace(_ pace: WritePacer.Pace) {
        write()
        output.set(pace, at: server.loop.now)
        server.touch(self)
    }

    /// - Parameter nanoseconds: of the client's time.
    func hold(_ nanoseconds: UInt64) {
        write()
        output.hold(until: server.loop.now.advanced(by: server.clock.loopDuration(nanoseconds)))
        server.touch(self)
    }

    /// Half-open, or as before.
    func stall(reads: Bool, writes: Bool) {
        guard !ends.isGone else { return }
        write()
        output.stop(writes)
        ruled.isDeaf = reads
        if !reads { endSilence() }
        if reads { server.hasStalled = true }
        if reads, !ends.sawFIN {
            if ruled.silent == nil, endpoint.isBetweenFrames { ruled.silent = SilentInput() }
            stream.isReading = !isUnread
            ruled.nextPeek = server.loop.now.advanced(by: Self.peekInterval)
        } else {
            ruled.nextPeek = nil
        }
        server.touch(self)
    }

    /// Whether Wiretape reads nothing from the socket.
    var isUnread: Bool { ruled.isDeaf && (ruled.silent?.isFull ?? true) }

    /// Keeps what the client sends during a stall.
    func receivedInSilence(_ bytes: Span<UInt8>) {
        if let end = ruled.silent?.take(bytes) { server.tell(self, .leftSilently(end)) }
        server.touch(self)
        server.pump()
    }

    /// Reads what the client sent during the stall.
    private func endSilence() {
        guard let silent = ruled.silent.take() else { return }
        endpoint.received(silent.all().span)
    }

    func mute(_ isMuted: Bool) { endpoint.writer.isMuted = isMuted }

    /// Checks a stalled client for its end, just before the run is judged.
    func lookForEnd() {
        guard ruled.isDeaf, !ends.sawFIN, !ends.isGone, stream.peerHasEnded else { return }
        ruled.nextPeek = nil
        noticeEnd()
        server.pump()
    }

    /// Whether the client sent its FIN and has not yet acknowledged everything sent since.
    var isHalfDelivered: Bool { ends.sawFIN && !ends.isGone && output.isDelivering }

    /// A client that is not read may have ended: its FIN is noticed here, its RST by the loop.
    func peek() {
        guard let due = ruled.nextPeek, due <= server.loop.now else { return }
        guard ruled.isDeaf, !ends.sawFIN else {
            ruled.nextPeek = nil
            return
        }
        guard stream.peerHasEnded else {
            ruled.nextPeek = server.loop.now.advanced(by: Self.peekInterval)
            return
        }
        ruled.nextPeek = nil
        noticeEnd()
    }
}
