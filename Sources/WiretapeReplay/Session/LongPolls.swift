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
    var waiting: RequestHead?
    var since: WireInstant = .zero
    var afterAnswer: RequestFate?
    /// The head of its answer is out.
    var isBegun = false
    /// What is due and has not gone out, in order.
    var queue: [Payload] = []
    /// The body that went out last, and on which connection; the kernel may not have all of it.
    var carrier: ConnectionID?
    var body: [Payload] = []
    /// Asked of the connection that carries the queue, once it has gone.
    var acknowledgement: UInt64?

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
