package import WiretapeProtocol
package import WiretapeRecorder
package import WiretapeRuntime
package import WiretapeWire

/// The relays of one loop, one for each upstream, and the recorder's end on that loop. Confined to the loop's thread.
package final class LoopRelays {
    package typealias Connect = (Upstream, Address, any StreamHandler) -> any ByteStream

    /// What the relays of one loop share.
    package struct Shared {
        let loop: any Loop
        let tap: Tap?
        let numbers: ConnectionNumbers
        let options: RelayOptions
        let admission: Admission
        let pressure: RelayPressure
        var faults: FaultControl?
        let ledger: UpstreamLedger
        /// How clients are led back, with what all loops know of it; nil: they are not.
        var leadBack: (rules: LeadBackRules, book: LeadBackBook, codecs: [CodecEntry])?
        let connect: Connect
        /// Those of a transparent proxy, which must not come back to it.
        var own: OwnStreams?

        package init(
            loop: any Loop, tap: Tap?, numbers: ConnectionNumbers, options: RelayOptions, admission: Admission,
            pressure: RelayPressure, faults: FaultControl? = nil, ledger: UpstreamLedger,
            leadBack: (rules: LeadBackRules, book: LeadBackBook, codecs: [CodecEntry])? = nil,
            connect: @escaping Connect,
            own: OwnStreams? = nil
        ) {
            self.loop = loop
            self.tap = tap
            self.numbers = numbers
            self.options = options
            self.admission = admission
            self.pressure = pressure
            self.faults = faults
            self.ledger = ledger
            self.leadBack = leadBack
            self.connect = connect
            self.own = own
        }

        /// - Parameter isSeen: false: what passes is on no tape, and no rule touches it.
        func node(_ upstream: Upstream, isSeen: Bool = true) -> RelayNode {
            RelayNode(
                loop, upstream: upstream, tap: isSeen ? tap : nil, numbers: isSeen ? numbers : ConnectionNumbers(),
                options: options, pressure: pressure, faults: isSeen ? faults : nil,
                ledger: isSeen ? ledger : UpstreamLedger(),
                admission: admission
            ) { [connect, own] in
                let stream = connect(upstream, $0, $1)
                own?.add(stream)
                return stream
            }
        }
    }

    /// How clients come.
    private enum Doors {
        /// To a listener for each upstream.
        case reverse([RelayNode], LeadBack?)
        /// To a proxy, which knows the hosts that are looked at and those that are not.
        case forward(ForwardDoor, ForwardRelays, unseen: ForwardRelays)
        /// By a rule of the firewall.
        case transparent(TransparentDoor, ForwardRelays)
    }

    private let doors: Doors
    private let shared: Shared
    private var open = 0

    /// - Parameter failed: called once when the recording failed and the traffic must stop.
    package init(_ shared: Shared, _ upstreams: [Upstream], forward: ForwardPlan?, failed: @escaping () -> Void) {
        self.shared = shared
        if let forward, forward.isTransparent {
            let handshakes = RelayHandshakes(
                shared.loop, tap: shared.tap, numbers: shared.numbers, faults: shared.faults)
            handshakes.serves(forward.inner)
            let seen = ForwardRelays { shared.node($0) }
            let door = TransparentDoor(
                shared.loop, inner: forward.inner, admission: shared.admission, own: shared.own,
                handshakes: handshakes, say: forward.say
            ) { seen.accept($0, $1, $2) }
            doors = .transparent(door, seen)
        } else if let forward {
            let seen = ForwardRelays { shared.node($0) }
            let unseen = ForwardRelays { shared.node($0, isSeen: false) }
            let handshakes = RelayHandshakes(
                shared.loop, tap: shared.tap, numbers: shared.numbers, faults: shared.faults)
            handshakes.serves(forward.inner)
            let door = ForwardDoor(
                shared.loop, scope: forward.scope, inner: forward.inner, admission: shared.admission,
                pressure: shared.pressure, unseen: unseen,
                connectTimeout: shared.options.connectTimeout, via: shared.options.via, handshakes: handshakes,
                page: forward.page, say: forward.say
            ) { seen.accept($0, $1, $2, isTLS: $3) }
            doors = .forward(door, seen, unseen: unseen)
        } else {
            let leadBack = shared.leadBack.map { rules, book, codecs in
                LeadBack(rules, book, codecs) { shared.node($0) }
            }
            let nodes = upstreams.map { shared.node($0) }
            for node in nodes { node.leadBack = leadBack }
            doors = .reverse(nodes, leadBack)
        }
        // Lifetime: the relays keep the tap, which calls this on their thread until `close()`.
        shared.tap?.onHold = { [unowned self] in hold() }
        // Lifetime: as above.
        shared.tap?.onRelease = { [unowned self] in release() }
        shared.tap?.onFailure = failed
    }

    private func hold() {
        switch doors {
        case .reverse(let nodes, let leadBack):
            for node in nodes { node.hold() }
            leadBack?.hold()
        case .forward(_, let seen, _), .transparent(_, let seen): seen.hold()
        }
    }

    private func release() {
        switch doors {
        case .reverse(let nodes, let leadBack):
            for node in nodes { node.release() }
            leadBack?.release()
        case .forward(_, let seen, _), .transparent(_, let seen): seen.release()
        }
    }

    /// Accepts clients of the n-th upstream at the n-th address, or of the proxy at the first.
    /// - Parameter doors: of the n-th listener; nil for one that speaks plain HTTP.
    /// - Returns: the addresses with their real ports.
    package func listen(on addresses: [Address], doors tls: [TLSDoor?], reusePort: Bool) throws(NetError) -> [Address] {
        switch doors {
        case .reverse(let nodes, _):
            var real: [Address] = []
            for (index, node) in nodes.enumerated() {
                real.append(try node.listen(on: addresses[index], reusePort: reusePort, door: tls[index]))
            }
            return real
        case .forward(let door, _, _):
            return [try door.listen(on: addresses[0], reusePort: reusePort, door: tls[0])]
        case .transparent(let door, _):
            var real: [Address] = []
            for address in addresses { real.append(try door.listen(on: address, reusePort: reusePort)) }
            return real
        }
    }

    /// Ends all connections; `done` is called once, when the recorder has all of them.
    package func stop(_ done: @escaping () -> Void) {
        let left: () -> Void = { [self] in
            open -= 1
            if open > 0 { return }
            shared.tap?.close()
            shared.faults?.close()
            shared.admission.close()
            done()
        }
        switch doors {
        case .reverse(let nodes, let leadBack):
            open = nodes.count
            open += leadBack?.stop(left) ?? 0
            for node in nodes { node.stop(left) }
        case .forward(let door, let seen, let unseen):
            open = 2
            door.close()
            seen.stop(left)
            unseen.stop(left)
        case .transparent(let door, let seen):
            open = 1
            door.close()
            seen.stop(left)
        }
    }
}
