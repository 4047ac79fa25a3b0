internal import WiretapeBytes
internal import WiretapeProtocol

/// Something that happened, in actual and in recorded time.
struct Anchor: Hashable, Sendable {
    var at: WireInstant
    var recorded: UInt64

    /// The later of the two in actual time, the one recorded later among equals.
    func later(_ other: Anchor) -> Anchor {
        (other.at, other.recorded) > (at, recorded) ? other : self
    }
}

/// From when recorded gaps are counted: the last things that happened in actual time before the position of a script.
struct ScriptAnchors: Sendable {
    /// The last among the server's steps before the head.
    private(set) var server: Anchor
    /// The last among the client messages that hold pushes back, before the first that has not come.
    private(set) var gate: Anchor
    /// The last client message that was matched.
    private(set) var client: Anchor
    /// Where the script's time began.
    private var start: Anchor
    /// All steps before are in `server`, and all before in `gate`.
    private var serverSteps = 0
    private var gates = 0

    init(_ start: Anchor) {
        (server, gate, client) = (start, start, start)
        self.start = start
    }

    /// The connection begins the script's time anew.
    mutating func restart(_ start: Anchor) {
        (server, gate, client) = (start, start, start)
        self.start = start
    }

    /// Recalculates the anchors from the steps that did happen.
    mutating func recount() {
        (server, gate) = (start, start)
        lookAgain()
    }

    /// All steps are looked at again.
    mutating func lookAgain() { (serverSteps, gates) = (0, 0) }

    /// The server's steps from that one on are looked at again.
    mutating func lookAgain(from step: Int) { serverSteps = min(serverSteps, step) }

    /// The session goes on behind a step that was said elsewhere.
    mutating func goOn(behind step: Int, _ anchor: Anchor) {
        server = anchor
        serverSteps = max(serverSteps, step + 1)
    }

    mutating func client(said anchor: Anchor) { client = client.later(anchor) }
    mutating func client(begins anchor: Anchor) { client = anchor }

    /// Takes in the server's steps before `end` that `anchor` knows of.
    mutating func takeServer(before end: Int, _ anchor: (Int) -> Anchor?) {
        while serverSteps < end {
            if let passed = anchor(serverSteps) { server = server.later(passed) }
            serverSteps += 1
        }
    }

    /// Takes in the gates before `end` that `anchor` knows of.
    mutating func takeGates(before end: Int, _ anchor: (Int) -> Anchor?) {
        while gates < end {
            if let passed = anchor(gates) { gate = gate.later(passed) }
            gates += 1
        }
    }

    /// A gate that comes when it was taken in already.
    mutating func late(gate step: Int, _ anchor: Anchor) {
        if step < gates { gate = gate.later(anchor) }
    }
}
