/// Makes a script from the entries of a session as they are read, so that a long tape need not be kept.
package struct ScriptBuilder: Sendable {
    private var script: Script
    private var build: Script.Build
    private var messages = ScriptMessages()
    private let readsAgain: Bool
    /// Without its entries.
    private let session: RecordedSession

    /// Keeps the messages.
    init(keeping session: RecordedSession, ignore: [IgnoreRule]) {
        self.session = session.bare
        script = Script(opened: session.opened ?? session.entries.first?.time ?? 0, messages)
        build = Script.Build(ignore: ignore)
        messages.all = []
        readsAgain = false
    }

    /// For a session over a WebSocket whose messages are read again from the tape when they are sent.
    package init(_ session: RecordedSession, ignore: [IgnoreRule]) {
        self.session = session.bare
        script = Script(opened: session.opened ?? session.entries.first?.time ?? 0, messages)
        build = Script.Build(ignore: ignore)
        readsAgain = true
    }

    /// The next entry of the session. `isWhole`: its event carries the whole payload, so that it can be read again.
    package mutating func add(_ entry: RecordedSession.Entry, isWhole: Bool = true) {
        let step = script.steps.count
        switch entry.what {
        case .message(let message):
            guard message.role != .keepalive, message.role != .ack else { return }
            script.add(message, entry, &build, meaning: meaning(of: message))
            if !readsAgain {
                messages.all?.append(message)
            } else if !isWhole || message.role == .opaque || entry.event == 0 || entry.event > UInt64(UInt32.max) {
                messages.kept[Int32(clamping: step)] = message
            }
        case .ending(let ending):
            script.add(script.step(of: entry, nil, .toClient, &build), meaning: ScriptBuilder.meaning(of: ending))
            messages.endings[Int32(clamping: step)] = ending
            messages.all?.append(nil)
        }
        if readsAgain { messages.events.append(UInt32(truncatingIfNeeded: entry.event)) }
    }

    /// Its meaning whatever the ids that the server made.
    private func meaning(of message: Message) -> UInt64 {
        var message = message
        message.meaning = session.withoutServerIDs(message.meaning)
        var hash = StableHash()
        hash.combine(message.matchKey)
        return hash.value
    }

    private static func meaning(of ending: RecordedSession.Ending) -> UInt64 {
        var hash = StableHash()
        switch ending {
        case .close(let code, let reason): hash.combine("close \(code ?? 0) \(reason)")
        case .disconnect: hash.combine("disconnect")
        case .reset: hash.combine("reset")
        }
        return hash.value
    }

    consuming func finish() -> Script {
        script.complete(build, messages)
        return script
    }

    /// The session with its script, whose messages are read from `tape`.
    package consuming func finish(_ session: RecordedSession, from tape: any PayloadSource) -> RecordedSession {
        messages.tape = tape
        messages.codec = session.writer.anew()
        script.complete(build, messages)
        var session = session
        session.writer = session.writer.anew()
        session.compiled = script
        return session
    }
}
