internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// Compression of WebSockets that had it on the tape.
extension ReplayEngine {
    /// What the recorded server would have agreed on with a client that offers this.
    private func agreement(_ head: RequestHead, of session: SessionRun) -> DeflateOffer? {
        guard options.deflate == .tape, session.recorded.transport == .ws,
            let recorded = session.recorded.opening.response?.headers.all("Sec-WebSocket-Extensions"),
            !recorded.isEmpty
        else { return nil }
        return DeflateOffer.agreement(offered: head.headers.all("Sec-WebSocket-Extensions"), recorded: recorded)
    }

    /// Answers an upgrade with 101.
    /// - Parameter fate: what rules want of it.
    func acceptance(
        of head: RequestHead, on connection: ConnectionID, for session: SessionRun, headers: [HeaderField],
        _ fate: RequestFate?
    ) -> ReplayAction {
        let agreed = agreement(head, of: session)
        var headers = headers
        if let agreed { headers.append(HeaderField("Sec-WebSocket-Extensions", agreed.text)) }
        if let recorded = session.recorded.opening.response, recorded.status == 101 {
            headers += ReplayEngine.recordedFields(of: recorded, beside: headers)
        }
        return .upgrade(
            connection, headers: headers, accept: ReplayEngine.accept(fate), deflate: agreed?.parameters)
    }

    /// Whether the recorded server compressed the message that carries those steps; for one that carries none, whether it
    /// did so with messages of that length.
    func isDeflated(_ steps: [Int], count: Int, of session: SessionRun) -> Bool {
        let habit = session.recorded.habits.deflate
        guard let step = steps.first, session.script.steps.indices.contains(step) else {
            return habit.compresses(count)
        }
        return session.script.steps[step].isDeflated
    }
}
