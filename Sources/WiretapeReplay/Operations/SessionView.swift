internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// A session made of recorded ones, for a client that asks in another way than the recorded one did.
struct SessionView: Sendable {
    let session: RecordedSession
    /// The recorded sessions that it is made of.
    let sources: [SessionLibrary.ID]
}

extension RecordedSession {
    /// All entries, read again or taken from the script if need be.
    private var all: [Entry] {
        guard let compiled = digested.script else { return whole.entries }
        return compiled.steps.indices.compactMap { i in
            let step = compiled.steps[i]
            let what = compiled.message(i).map(What.message) ?? compiled.ending(i).map(What.ending)
            return what.map {
                Entry(event: 0, line: Int(step.line), time: step.time, connection: 0, frame: Int(step.frame), $0)
            }
        }
    }

    /// Each request of the client with its chain as an operation by itself. Where the session ended first, so does the
    /// operation; one that was answered ends with the answer.
    var parts: [RecordedSession] {
        var parts: [RecordedSession] = []
        var open: [Chain: Int] = [:]
        for entry in all {
            switch entry.what {
            case .message(let message):
                guard let chain = message.chain, message.role != .handshake else { continue }
                if message.role == .request, message.direction == .toServer {
                    open[chain] = parts.count
                    parts.append(part(parts.count + 1, beginning: entry))
                } else if let at = open[chain] {
                    parts[at].entries.append(entry)
                }
            case .ending(let ending):
                for at in open.values.sorted() where !parts[at].isAnswered {
                    parts[at].end(ending == .reset ? .reset : .disconnect, at: entry)
                }
                open = [:]
            }
        }
        for at in parts.indices where parts[at].isAnswered {
            if let last = parts[at].entries.last { parts[at].end(.close(code: 1000, reason: ""), at: last) }
        }
        return parts
    }

    private func part(_ number: Int, beginning entry: Entry) -> RecordedSession {
        var part = bare
        part.isOperation = true
        part.part = number
        part.negotiate = nil
        part.redirects = []
        part.serverIDs = nil
        part.digested.openingFingerprint = nil
        part.opened = entry.time
        part.entries = [entry]
        return part
    }

    private mutating func end(_ ending: Ending, at place: Entry) {
        entries.append(
            Entry(
                event: place.event, line: place.line, time: place.time, connection: place.connection,
                frame: place.frame + 1, .ending(ending)))
    }

    /// The last that the server said ends the chain.
    private var isAnswered: Bool {
        let last = entries.last { entry in
            if case .message(let message) = entry.what { message.direction == .toClient } else { false }
        }
        guard case .message(let message) = last?.what else { return false }
        return message.role == .reply
    }

    /// Operations as one session that begins with the protocol's own opening, each under an id that is its place in
    /// `operations`. An operation's proper end is none of the session.
    /// - Parameter operations: in recorded order, at least one.
    static func merging(_ operations: [RecordedSession]) -> RecordedSession {
        let first = operations[0]
        let type = first.codec.type
        var codec = type.init(
            StreamOpening(
                request: RequestHead(
                    method: "GET", target: first.route, headers: [HeaderField("Upgrade", "websocket")])))
        var merged = RecordedSession(
            number: first.number, codec: first.codec, writer: codec, transport: .ws, route: first.route,
            opening: first.opening, name: first.name, opened: first.opened)
        let start = first.entries.first?.time ?? first.opened ?? 0
        for part in type.preamble {
            var messages: [Message] = []
            codec.decode(part.payload.span, part.opcode, part.direction, into: &messages)
            merged.entries += messages.map {
                Entry(event: 0, line: 1, time: start, connection: 0, frame: 0, .message($0))
            }
        }
        merged.writer = codec
        var entries = operations.enumerated().flatMap { i, one in one.entries.compactMap { $0.merged(as: i) } }
        entries.sort { ($0.time, $0.event) < ($1.time, $1.event) }
        merged.entries += entries
        for i in merged.entries.indices { merged.entries[i].frame = i + 1 }
        merged.connections = operations.flatMap(\.connections)
        return merged
    }
}

extension RecordedSession.Entry {
    fileprivate func merged(as place: Int) -> RecordedSession.Entry? {
        var entry = self
        switch what {
        case .message(var message):
            if let chain = message.chain { message.chain = Chain("\(place)", origin: chain.origin) }
            entry.what = .message(message)
        case .ending(.close(1000, _)): return nil
        case .ending: break
        }
        return entry
    }
}
