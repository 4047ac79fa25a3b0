internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

/// What a server says by itself when a client connects.
extension ReplayEngine {
    /// Before a client gets a new connection to a session that it has had one to.
    mutating func findGreeting(of session: SessionRun, into out: inout [ReplayAction]) {
        guard session.generation > 0, session.greeting == nil, !session.recorded.isOperation else { return }
        let mine = claims[session].recorded
        var others: [Script] = []
        if options.greeting == .auto {
            let siblings = library.table.routes[library.table.route(of: mine)].sessions.prefix(
                SessionGreeting.mostConnections)
            for other in siblings where other != mine && library[other].refusal == nil {
                others.append(script(of: other))
            }
        }
        let greeting = SessionGreeting(session.script, others: others, options.greeting)
        session.greets(with: greeting)
        if case .named(let names) = options.greeting, greeting.steps.isEmpty {
            let name = "session \(session.recorded.number) of \(tapeName)"
            out.append(.log("wiretape: --greeting \(names.joined(separator: ",")): no push of \(name) is named so"))
        }
    }

    /// A message of the greeting, which may name the connection that it goes to.
    func addressed(_ message: Message, to session: SessionRun) -> Message {
        guard let recorded = session.recorded.serverIDs, let token = session.link?.token, let live = ids[token]?.ids
        else { return message }
        var message = message
        for (old, new) in [(recorded.connectionID, live.connectionID), (recorded.token, live.token)]
        where old != new && old.utf8.count == new.utf8.count && old.utf8.count >= 8 {
            message.bytes = message.bytes.replacing(Array(old.utf8), with: Array(new.utf8))
        }
        return message
    }
}
