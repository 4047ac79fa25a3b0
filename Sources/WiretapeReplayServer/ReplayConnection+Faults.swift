internal import WiretapeBytes
internal import WiretapePlayback
internal import WiretapeRuntime
internal import WiretapeWire

/// What rules do to the bytes of a connection.
extension ReplayConnection {
    /// How often a client that is not read is looked at.
    private static let peekInterval: UInt64 = 20_000_000

    func raw(_ bytes: [UInt8], _ ticket: UInt64?) {
        endpoint.raw(bytes)
        if let ticket { expectWritten(ticket) }
        server.touch(self)
    }

    /// What was said before leaves as it would; of the rest so many bytes.
    func limit(_ count: Int) {
        write()
        ruled.budget = min(ruled.budget ?? .max, count)
    }

    func withinBudget(_ bytes: [UInt8]) -> [UInt8] {
        guard let budget = ruled.budget else { return bytes }
        ruled.budget = budget - min(budget, bytes.count)
        return Array(bytes.prefix(budget))
    }

    func pace(_ pace: WritePacer.Pace) {
        write()
        outbound.pacer.set(pace, at: server.loop.now)
        server.touch(self)
    }

    func hold(_ nanoseconds: UInt64) {
        write()
        outbound.hold(until: server.loop.now.advanced(by: nanoseconds))
        server.touch(self)
    }

    /// Half-open, or as before.
    func stall(reads: Bool, writes: Bool) {
        guard !ends.isGone else { return }
        write()
        outbound.pacer.isStopped = writes
        ruled.isDeaf = reads
        if reads, !ends.sawFIN {
            stream.isReading = false
            ruled.nextPeek = server.loop.now.advanced(by: Self.peekInterval)
        } else {
            ruled.nextPeek = nil
        }
        server.touch(self)
    }

    func mute(_ isMuted: Bool) { endpoint.isMuted = isMuted }

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
