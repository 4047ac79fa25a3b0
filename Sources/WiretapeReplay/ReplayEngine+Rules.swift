internal import WiretapeAttempts
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReport
internal import WiretapeWire

// The rules of the protocol's server. Where the recorded server itself ended the session so, the tape tells when and how;
// where it took what breaks them, they are not played.

extension ReplayEngine {
    /// Lets the rules of the connection hear a message of the client.
    /// - Returns: false when it broke one: the connection is over.
    mutating func keepRules(_ message: Message, of session: SessionRun, into out: inout [ReplayAction]) -> Bool {
        guard let breach = session.link?.rules?.heard(message), !session.script.hasEnding(code: breach.code),
            !session.leniency.allows(breach, at: message)
        else { return true }
        breakOff(session, breach, "at \(message.title)", into: &out)
        return false
    }

    /// The client broke a rule: a divergence, which ends the connection as the protocol's server would end it. The client
    /// may come back to its session.
    private mutating func breakOff(
        _ session: SessionRun, _ breach: RuleBreach, _ what: String, into out: inout [ReplayAction]
    ) {
        let text =
            "wiretape: session \(session.recorded.number): the client broke the protocol's rules (\(what)): "
            + "closed with \(breach.code) \(breach.reason)"
        switch options.onDivergence {
        case .fail, .warn: diverged(text, into: &out)
        case .ignore: record.diverged(text)
        case .stall: return diverge(session, text, reason: breach.reason, into: &out)
        }
        shut(session, .close(code: breach.code, reason: ReplayEngine.closeReason(breach.reason)), into: &out)
        leave(session, by: .replay, how: .close(breach.code), .gone)
    }
}
