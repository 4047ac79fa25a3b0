internal import CWiretapeUV
internal import WiretapeBytes

// Lifetime: the list that `poll` fills is a local of the call.

/// libuv polls a stream that is neither read nor written for nothing: after the peer's FIN, or while its owner does not
/// want bytes, an RST would be noticed at the next write only, which may never come. Those streams, and only those, are
/// looked at twice a second, all with one `poll` call; others cost nothing.
extension UVLoop {
    static var watchInterval: UInt64 { 500_000_000 }

    func watch(_ stream: UVStream) {
        guard stream.watchSlot < 0, !isShutDown else { return }
        stream.watchSlot = Int32(truncatingIfNeeded: watched.count)
        watched.append(stream)
        if watched.count == 1 { armWatch() }
    }

    func unwatch(_ stream: UVStream) {
        let slot = Int(stream.watchSlot)
        guard slot >= 0, slot < watched.count else { return }
        stream.watchSlot = -1
        let last = watched.removeLast()
        guard slot < watched.count else { return }
        watched[slot] = last
        last.watchSlot = Int32(truncatingIfNeeded: slot)
    }

    private func armWatch() {
        // Lifetime: the loop keeps the timer and fires it itself.
        let timer = watchTimer ?? UVTimer(self, holdsLoop: false) { [unowned self] in look() }
        watchTimer = timer
        timer.arm(at: now.advanced(by: Self.watchInterval))
    }

    private func look() {
        guard !watched.isEmpty else { return }
        let streams = watched
        var polls = streams.map { pollfd(fd: $0.descriptor ?? -1, events: 0, revents: 0) }
        if unsafe poll(&polls, nfds_t(polls.count), 0) > 0 {
            for (stream, result) in zip(streams, polls) where Int32(result.revents) & POLLERR != 0 {
                stream.peerBroke()
            }
        }
        if !watched.isEmpty { armWatch() }
    }
}
