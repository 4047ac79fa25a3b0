internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

/// What a model client keeps of a session whose connection is lost, as long as a stateful reconnect may go on with it: what the
/// protocol counts, and what lost connections took with them.
struct ClientMemory {
    private var counted: StatefulMemory?
    /// What is lost unless the next connection makes it good.
    private var unsettled: [Loss] = []

    /// Something that was lost, and the session that it is of.
    struct Loss {
        var what: ModelClient.Loss
        var session: Int
    }

    /// Whether the protocol's state goes on.
    var isKept: Bool { counted != nil }
    /// When an Ack is due.
    var acknowledgeAt: WireInstant? { counted?.acknowledgeAt }

    mutating func begin(isBinary: Bool) { counted = StatefulMemory(isBinary: isBinary) }
    mutating func drop() { counted = nil }

    /// - Returns: nil when the message is to be taken; empty when it is to be dropped; else what is wrong with it.
    mutating func receiving(_ message: Message, at now: WireInstant) -> String? {
        counted?.receiving(message, at: now)
    }

    mutating func saying(_ bytes: [UInt8], _ saying: Saying) { counted?.saying(bytes, saying) }
    mutating func acknowledgement(at now: WireInstant) -> [UInt8]? { counted?.acknowledgement(at: now) }

    /// What a new connection begins with.
    mutating func reopened(_ generation: Int, session: Int) -> [(bytes: [UInt8], sayings: [Saying])] {
        counted?.reopened(generation, session: session) ?? []
    }

    mutating func lost(_ loss: Loss) { unsettled.append(loss) }

    /// Whether something that was said in that session is lost so far.
    func hasUnsaid(in session: Int) -> Bool {
        unsettled.contains { loss in
            if case .said = loss.what { loss.session == session } else { false }
        }
    }

    /// What was lost stays lost.
    /// - Returns: what it was.
    mutating func settle() -> [Loss] {
        defer { unsettled = [] }
        return unsettled
    }

    /// A connection goes on: what the client said, it says again itself; what it did not hear comes again if the protocol
    /// counts it, unless that is lost as well.
    /// - Returns: what stays lost.
    mutating func goOn(_ isCounted: (_ line: Int, _ session: Int) -> Bool) -> [Loss] {
        let lost = unsettled
        unsettled = lost.filter { loss in
            guard case .heard(let line) = loss.what else { return false }
            return isCounted(line, loss.session)
        }
        return lost.filter { loss in
            guard case .heard(let line) = loss.what else { return false }
            return !isCounted(line, loss.session)
        }
    }
}
