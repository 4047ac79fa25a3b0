internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// Compression of WebSockets that had it on the tape.
extension ReplayEngine {
    /// What the recorded server would have agreed on with a client that offers this.
    private func agreement(_ head: RequestHead, of r: Int) -> DeflateOffer? {
        guard options.deflate == .tape, runs[r].session.transport == .ws,
            let recorded = runs[r].session.opening.response?.headers.all("Sec-WebSocket-Extensions"),
            !recorded.isEmpty
        else { return nil }
        return DeflateOffer.agreement(offered: head.headers.all("Sec-WebSocket-Extensions"), recorded: recorded)
    }

    /// Answers an upgrade with 101.
    /// - Parameter fate: what rules want of it.
    func acceptance(
        of head: RequestHead, on c: ConnectionID, for r: Int, headers: [HeaderField], _ fate: RequestFate?
    ) -> ReplayAction {
        let agreed = agreement(head, of: r)
        let field = agreed.map { HeaderField("Sec-WebSocket-Extensions", $0.text) }
        return .upgrade(
            c, headers: headers + [field].compactMap(\.self), accept: ReplayEngine.accept(fate),
            deflate: agreed?.parameters)
    }

    /// Whether the recorded server compressed the message that carries those steps; for one that carries none, whether it
    /// did so with messages of that length.
    func isDeflated(_ steps: [Int], count: Int, of r: Int) -> Bool {
        let habit = runs[r].session.habits.deflate
        guard let step = steps.first, runs[r].script.steps.indices.contains(step) else {
            return habit.compresses(count)
        }
        return runs[r].script.steps[step].isDeflated
    }
}
