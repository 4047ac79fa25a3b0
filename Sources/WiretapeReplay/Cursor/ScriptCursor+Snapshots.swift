internal import WiretapeMessages
internal import WiretapeProtocol

// Replies that describe a state of the server, which has changed since they were recorded.

extension ScriptCursor {
    /// The message as the server would send it now. A reply that goes out once more describes the state after everything that followed it.
    func upToDate(_ message: Message, _ step: Int, _ codec: any FrameCodec.Type) -> Message {
        guard message.role == .reply, state[step] == .done else { return message }
        return codec.updated(message, after: pastMessages(after: step).map(\.message)) ?? message
    }

    /// The step that the server sends once more after it repeats this reply. Nil: none.
    func retainedStep(after step: Int, _ codec: any FrameCodec.Type) -> Int? {
        guard let reply = script.message(step), reply.role == .reply else { return nil }
        let later = pastMessages(after: step)
        return codec.retainedIndex(after: reply, in: later.map(\.message)).map { later[$0].step }
    }

    /// The server's messages of the reply's chain that follow it and are in the past, whether or not the client got them.
    private func pastMessages(after step: Int) -> [(step: Int, message: Message)] {
        guard let group = script.steps[step].group else { return [] }
        return script.toClient(in: group).compactMap { later in
            guard later > step, state[later] == .done || state[later] == .lost else { return nil }
            return script.message(later).map { (later, $0) }
        }
    }
}
