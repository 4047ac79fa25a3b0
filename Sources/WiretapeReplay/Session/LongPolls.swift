internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeWire

/// The polls of one client, and what waits for the next of them.
struct LongPolls: Sendable {
    /// A payload of whole messages.
    struct Payload: Sendable {
        var bytes: [UInt8]
        var opcode: Opcode
        var ticket: UInt64
        /// How many messages of the script it carries.
        var messages = 0
        /// The body's length is told wrong.
        var isLengthWrong = false
    }

    /// The poll that waits for its answer on ``Link/connection``, since when, and what a rule does after its answer.
    private(set) var waiting: RequestHead?
    private(set) var since: WireInstant = .zero
    private var afterAnswer: RequestFate?
    /// The head of its answer is out.
    private var isBegun = false
    /// What is due and has not gone out, in order.
    private(set) var queue: [Payload] = []
    /// The body that went out last, and on which connection; the kernel may not have all of it.
    private(set) var carrier: ConnectionID?
    private var body: [Payload] = []
    /// Asked of the connection that carries the queue, once it has gone.
    private var acknowledgement: UInt64?

    /// A poll has come, and waits for its answer.
    /// - Parameter hit: what a rule does behind that.
    mutating func waits(_ head: RequestHead, then hit: RequestFate?, at now: WireInstant) {
        waiting = head
        since = now
        afterAnswer = hit
    }

    /// The head of the answer to the poll that waits has gone out.
    mutating func headHasGone() { isBegun = true }

    /// The client's time to poll again, or ours to answer, counts from now on.
    mutating func restartsClock(at now: WireInstant) { since = now }

    /// A payload goes out with an answer.
    mutating func add(_ payload: Payload) { queue.append(payload) }

    /// What goes out with the answer to the poll that waits.
    /// - Parameter isOne: only the first of what is due.
    mutating func takeBody(isOne: Bool) -> [Payload] {
        body = isOne ? Array(queue.prefix(1)) : queue
        queue.removeFirst(body.count)
        return body
    }

    /// The poll that waited has its answer.
    struct Finished {
        var head: RequestHead
        /// What a rule does now.
        var hit: RequestFate?
        var isBegun: Bool
    }

    /// Gives the poll that waits its answer, on that connection; nil: none waits.
    mutating func finish(on connection: ConnectionID, at now: WireInstant) -> Finished? {
        guard let head = waiting else { return nil }
        let finished = Finished(head: head, hit: afterAnswer, isBegun: isBegun)
        waiting = nil
        afterAnswer = nil
        isBegun = false
        since = now
        carrier = connection
        return finished
    }

    /// Once the queue has gone, its connection is asked whether the peer has it.
    mutating func acknowledges(with ticket: UInt64) { acknowledgement = ticket }

    /// What the connection is asked now that the queue has gone.
    mutating func takeAcknowledgement() -> UInt64? {
        guard queue.isEmpty else { return nil }
        defer { acknowledgement = nil }
        return acknowledgement
    }

    /// What was due and has not gone out.
    mutating func takeQueue() -> [Payload] {
        defer { queue = [] }
        return queue
    }

    /// Nothing of what was due, or is on its way, goes out again.
    mutating func forget() {
        queue = []
        body = []
    }

    /// The poll that waited is gone.
    mutating func disconnected() {
        waiting = nil
        afterAnswer = nil
        isBegun = false
        acknowledgement = nil
    }

    /// The kernel has the body up to that payload.
    mutating func handedOver(_ ticket: UInt64) {
        body.removeAll { $0.ticket <= ticket }
    }

    /// The connection that carried a body is gone: what the kernel did not take goes with the next poll.
    mutating func lost(_ connection: ConnectionID) {
        guard carrier == connection else { return }
        queue = body + queue
        body = []
    }
}
