internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// What the protocol's servers send on the client's connection; not the whole link is copied for it.
    private var ownKeepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        guard let transport = link?.transport else { return nil }
        return link?.writer.keepalive(on: transport)
    }

    /// When the next keepalive is due, as nanoseconds between two of them; nil: none.
    func keepaliveInterval(_ options: ReplayOptions) -> UInt64? {
        guard let own = ownKeepalive else { return nil }
        switch options.keepalive {
        case .auto:
            // Servers of some protocols send none over long polling.
            let isUsual = link?.transport != .lp || recorded.codec.type.polling?.hasKeepalives == true
            return isUsual ? own.every : nil
        case .off: return nil
        case .every(let every): return every
        }
    }

    /// The keepalive when it is due. The protocol's servers send them also when they are busy, and so does replay.
    func keepalive(at now: WireInstant, _ options: ReplayOptions) -> (payload: [UInt8], opcode: Opcode)? {
        guard standing.failure == nil, let ready = link?.readyAt, link?.isCut == false,
            let every = keepaliveInterval(options), let own = ownKeepalive
        else {
            link?.stopsKeepalives()
            return nil
        }
        guard link?.keepaliveIsDue(every: every, ready: ready, at: now) == true else { return nil }
        // Between two polls nobody listens, and the next one is itself a sign of life.
        guard link?.connection != nil else { return nil }
        return (own.payload, own.opcode)
    }
}
