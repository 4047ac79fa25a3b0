package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// A recorded session as a conversation: what each side says, and by the rules of `docs/replay.md` what each message of
/// the server waits for. Worked out from the tape alone, without anything of the replay engine, which is held to it.
package struct Conversation: Sendable {
    package struct Line: Sendable {
        package var time: UInt64
        /// The line on the tape, from 1.
        package var tapeLine: Int
        package var frame: Int
        package var direction: Direction
        /// Nil for an ending.
        package var message: Message?
        package var ending: RecordedSession.Ending?
        /// The line whose message opened the chain that this one belongs to; its own for one that opens a chain.
        package var opener: Int?
        /// Whether replay may leave it out: what follows a farewell of the client, and the farewell.
        package var isOptional = false
        /// Lines of the client that must have arrived before this one of the server may leave.
        package var causes: [Int] = []
        /// Equal for messages of equal meaning.
        package var key = ""

        package var role: Role? { message?.role }
        /// Whether a stateful reconnect brings it again.
        var isCounted: Bool { message.map { StatefulMemory.counted.contains($0.type) } ?? false }
        /// The server's farewell, or its end of the connection.
        var isEnd: Bool { direction == .toClient && (ending != nil || role == .close) }
    }

    package let session: RecordedSession
    package private(set) var lines: [Line] = []
    package private(set) var clientHandshake: Int?
    package private(set) var serverHandshake: Int?
    package private(set) var farewell: Int?
    /// The tape's time at which the stream opened.
    package let opened: UInt64

    package init(_ session: RecordedSession) {
        self.session = session
        opened = session.opened ?? session.entries.first?.time ?? 0
        var open: [Chain: Int] = [:]
        for entry in session.entries {
            var line = Line(time: entry.time, tapeLine: entry.line, frame: entry.frame, direction: .toClient)
            switch entry.what {
            case .ending(let ending): line.ending = ending
            case .message(let message):
                if message.role == .keepalive || message.role == .ack { continue }
                line.message = message
                line.direction = message.direction
                line.key = message.matchKey
                note(message, &line, &open)
            }
            if farewell != nil, farewell != lines.count, line.direction == .toClient {
                line.isOptional = line.ending != nil || line.role == .close
            }
            lines.append(line)
        }
        for i in lines.indices where lines[i].direction == .toClient { lines[i].causes = causes(of: i) }
    }

    private mutating func note(_ message: Message, _ line: inout Line, _ open: inout [Chain: Int]) {
        let index = lines.count
        switch message.role {
        case .handshake:
            if message.direction == .toServer {
                clientHandshake = clientHandshake ?? index
            } else {
                serverHandshake = serverHandshake ?? index
            }
        case .close where message.direction == .toServer:
            farewell = farewell ?? index
            line.isOptional = true
        case .request, .send, .reply, .push, .part, .cancel, .keepalive, .ack, .close, .opaque:
            let opens = message.role == .request && message.chain?.origin == message.direction
            if opens, let chain = message.chain { open[chain] = index }
            for further in message.opens { open[further] = index }
            line.opener = message.chain.flatMap { open[$0] } ?? (message.opens.isEmpty ? nil : index)
        }
    }

    /// "A reply waits for its whole chain: the request, what belongs to it, and any answer the server had asked the client
    /// for in between. A push waits for every client message recorded before it, except chain-ending ones, acks, pings and
    /// Close: those gate their own chain only. An end waits for all that the client said before it."
    private func causes(of index: Int) -> [Int] {
        let line = lines[index]
        if line.role == .handshake { return clientHandshake.map { $0 < index ? [$0] : [] } ?? [] }
        let before = lines.indices.prefix(index).filter { lines[$0].direction == .toServer }
        if line.role == .reply, let opener = line.opener {
            return before.filter { lines[$0].opener == opener || ($0 > opener && lines[$0].role == .reply) }
        }
        return before.filter {
            switch lines[$0].role {
            case .close: false
            case .cancel where line.isEnd: true
            case .cancel: line.opener != nil && lines[$0].opener == line.opener
            case .handshake, .request, .send, .reply, .push, .part, .keepalive, .ack, .opaque, nil: true
            }
        }
    }

    /// The lines of one side that belong to what `opener` opened, in order.
    package func chain(of opener: Int, _ direction: Direction) -> [Int] {
        lines.indices.filter { lines[$0].opener == opener && lines[$0].direction == direction }
    }
}
