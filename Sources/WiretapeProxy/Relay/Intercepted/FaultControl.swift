internal import WiretapeBytes
package import WiretapeFaults
package import WiretapeIntercept
package import WiretapePlayback
internal import WiretapeRecorder
package import WiretapeRuntime
internal import WiretapeWire

/// The fault rules of one loop, and the relays whose connections they are about.
package final class FaultControl {
    package let faults: LiveFaults
    /// What its connections may hold.
    let memory: MemoryBudget
    private let loop: any Loop
    private var nodes: [RelayNode] = []
    private var timer: (any LoopTimer)?
    /// Of rules about moments, and of the end of an outage.
    private var armedFor: WireInstant?
    private var marks: [FaultHit: FaultMark] = [:]
    private var lastMark: UInt32 = 0
    /// What rules did to the TLS handshake of the connection that comes about now.
    private var handshakeHits: [FaultHit] = []
    private var tls = SpokenTLS()
    /// Whether a rule has stopped the reading of any client.
    var hasStalled = false

    package init(_ loop: any Loop, _ faults: LiveFaults, memory: MemoryBudget = MemoryBudget()) {
        self.memory = memory
        self.loop = loop
        self.faults = faults
        waitForMoments()
    }

    private func waitForMoments() {
        guard faults.reach.hasTime else { return }
        // Lifetime: `close()` closes the timer before the control goes.
        if timer == nil { timer = loop.timer { [unowned self] in fired() } }
        armedFor = nil
        arm()
    }

    // MARK: What the tape will be told

    /// A rule has fired whose end is still to come.
    /// - Returns: the number of its mark on the tape.
    func mark(_ hit: FaultHit, on connection: UInt32) -> UInt32 {
        lastMark += 1
        marks[hit] = FaultMark(number: lastMark, connection: connection, carried: hit.message == nil ? nil : 0)
        return lastMark
    }

    /// So many bytes went that way for the event.
    func carried(_ count: Int, _ direction: Direction, for hit: FaultHit) {
        marks[hit]?.carried = count
        marks[hit]?.direction = direction
    }

    func takeMark(of hit: FaultHit) -> FaultMark? { marks.removeValue(forKey: hit) }

    /// Lets go of the nodes and the timer.
    package func close() {
        timer?.close()
        timer = nil
        nodes = []
    }

    func add(_ node: RelayNode) { nodes.append(node) }

    // MARK: What somebody does while the run goes on

    /// Other rules from now on, all at once.
    package func changeRules(_ plan: FaultPlan, restarting: Bool) {
        faults.changeRules(plan, restarting: restarting)
        waitForMoments()
    }

    /// The client connections that are open, by their number.
    package var openConnections: [OpenConnection] {
        nodes.flatMap { node in node.connectionNumbers.compactMap { node.connection($0) } }.map { connection in
            let carrier = faults.carrier(on: connection.id)
            return OpenConnection(
                id: connection.id, from: connection.client?.stream?.peer, session: carrier?.session,
                run: carrier == nil ? nil : 1, transport: carrier.flatMap { Transport(rawValue: $0.transport) },
                isStalled: connection.held?.isStalled ?? false)
        }.sorted { $0.id < $1.id }
    }

    /// Does something to a client connection, as a rule would that is in no plan.
    package func act(_ act: LiveAct, on id: UInt32) -> LiveActOutcome {
        guard let connection = nodes.lazy.compactMap({ $0.connection(id) }).first else { return .unknown }
        guard let held = connection.held, !held.isOver else {
            switch act {
            case .end(.reset, _): connection.abort()
            case .end(.disconnect, _): connection.stop()
            case .end, .stall, .resume, .inject: return .needsSession
            }
            return .done
        }
        switch act {
        case .end(let effect, let text):
            // Nothing under way: there is no session that could be told.
            guard held.isCarrying else {
                switch effect.kind {
                case .end(let end) where end == .reset || end == .fin: held.cut(end, by: LiveFaults.controlRule)
                case .end, .outage, .answer, .upgrade, .message, .connection, .session, .handshake: return .needsSession
                }
                return .done
            }
            held.carryOut(hit(effect, text))
        case .stall(let stall, let text):
            guard held.isCarrying else { return .needsSession }
            held.carryOut(hit(.stall(stall), text))
        case .resume: held.resume()
        case .inject(let edit):
            guard held.isCarrying else { return .needsSession }
            held.carryOut(hit(.message(.inject(edit)), "inject"))
        }
        return .done
    }

    private func hit(_ effect: FaultEffect, _ text: String) -> FaultHit {
        FaultHit(
            rule: -1, name: LiveFaults.controlRule, place: .before, actions: [FaultAction(text: text, verdict: effect)],
            message: nil, counted: nil, random: faults.seed)
    }

    /// Clients are served so.
    func serves(_ door: TLSDoor?) { tls.add(door) }

    /// Why rules about TLS handshakes could not be carried out here; nil when they could.
    package func problemOfTLS(_ plan: FaultPlan) -> PlanError? { tls.problem(of: plan) }

    /// Calls `accept` for a client to whose TLS handshake rules had something to say.
    func within(_ hits: [FaultHit], _ accept: () -> any StreamHandler) -> any StreamHandler {
        handshakeHits = hits
        defer { handshakeHits = [] }
        return accept()
    }

    /// A client has connected.
    func accepted(_ connection: RelayConnection, _ stream: any ByteStream, at address: Address?) {
        let now = loop.now
        lookForEnds(at: now)
        for hit in handshakeHits {
            let text = FaultRecord.encode(hit.name, hit.text, delivered: nil)
            connection.node.tap?.record(.fault, connection.id, at: now, text.span)
        }
        let hits = faults.accepted(
            connection.id, from: stream.peer, listener: address?.description ?? connection.node.dialer.upstream.name,
            at: now)
        arm()
        if let outage = faults.outage, faults.refusesConnections(at: now) {
            faults.refused(connection.id, by: outage.rule, at: now)
            return connection.abort()
        }
        guard let fate = RequestFate(hits) else { return }
        connection.becomeHeld(self).accepted(fate, at: now)
    }

    /// Checks stalled clients for their FIN. A client that reconnects may have closed its stalled connection just before.
    private func lookForEnds(at now: WireInstant) {
        guard hasStalled else { return }
        for node in nodes {
            for id in node.connectionNumbers { node.connection(id)?.held?.lookForEnd(at: now) }
        }
    }

    /// The server is away from now on.
    func begin(_ outage: Outage, by rule: String) {
        faults.begin(outage, by: rule, at: loop.now)
        for node in nodes {
            for id in node.connectionNumbers {
                // One that is kept alive is refused or answered when it asks: were it cut beforehand, the client's next
                // attempt might be lost on the way and nobody would know of it.
                guard let connection = node.connection(id), connection.isCarrying else { continue }
                connection.cut(outage.cut, by: rule)
            }
        }
    }

    // MARK: Moments

    /// Something has begun that a moment may be counted from.
    func arm() {
        guard let timer, let next = faults.nextTime else { return }
        if let armedFor, armedFor <= next { return }
        armedFor = next
        timer.arm(at: next)
    }

    private func fired() {
        armedFor = nil
        for (hit, id) in faults.times(at: loop.now) {
            guard let id else {
                carryOut(hit)
                continue
            }
            for node in nodes { node.connection(id)?.held?.carryOut(hit) }
        }
        arm()
    }

    /// A rule about the run: all connections.
    private func carryOut(_ hit: FaultHit) {
        for action in hit.actions {
            if case .outage(let outage) = action.verdict {
                faults.record(hit, on: nil, at: loop.now)
                return begin(outage, by: hit.name)
            }
        }
        for node in nodes {
            for id in node.connectionNumbers { node.connection(id)?.held?.carryOut(hit) }
        }
    }
}

extension RelayConnection {
    /// Whether an exchange or a WebSocket is under way.
    fileprivate var isCarrying: Bool { held.map { $0.socket != nil || $0.http.live != nil } ?? true }

    /// The end that an outage brings.
    func cut(_ how: Outage.Cut, by rule: String) {
        guard let end = how.end else { return }
        if let held {
            held.cut(end, by: rule)
        } else if end == .reset {
            abort()
        } else {
            stop()
        }
    }
}
