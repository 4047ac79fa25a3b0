internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeWire

/// Makes a script from the entries of a session as they are read, so that a long tape need not be kept.
package struct ScriptBuilder: Sendable {
    private var script: Script
    private var build: Script.Build
    private var messages = ScriptMessages()
    private let readsAgain: Bool
    private let ignore: [IgnoreRule]
    private var openingFingerprint = OpeningFingerprint()
    private var start: UInt64?
    private var hasCrossings = false
    /// The number of frame sizes that the script stores.
    private var frameSizes = 0
    /// Without its entries.
    private let session: RecordedSession

    /// Keeps the messages.
    init(keeping session: RecordedSession, ignore: [IgnoreRule]) {
        self.session = session.bare
        self.ignore = ignore
        script = Script(opened: session.opened ?? session.entries.first?.time ?? 0, messages)
        build = Script.Build(ignore: ignore)
        build.repliesEndChains = !session.codec.type.chainsAreNames
        messages.all = []
        readsAgain = false
    }

    /// For a session over a WebSocket whose messages are read again from the tape when they are sent.
    package init(_ session: RecordedSession, ignore: [IgnoreRule]) {
        self.session = session.bare
        self.ignore = ignore
        script = Script(opened: session.opened ?? session.entries.first?.time ?? 0, messages)
        build = Script.Build(ignore: ignore)
        build.repliesEndChains = !session.codec.type.chainsAreNames
        readsAgain = true
    }

    /// The next entry of the session. `isWhole`: its event carries the whole payload, so that it can be read again.
    package mutating func add(_ entry: RecordedSession.Entry, isWhole: Bool = true) {
        let step = script.steps.count
        switch entry.what {
        case .message(let message):
            guard message.role != .keepalive, message.role != .ack else { return }
            if entry.frameSizes.count > 1, message.direction == .toClient,
                frameSizes + entry.frameSizes.count <= ScriptMessages.mostFrameSizes
            {
                messages.frameSizes[Int32(clamping: step)] = entry.frameSizes
                frameSizes += entry.frameSizes.count
            }
            start = start ?? entry.time
            if entry.isCrossing { hasCrossings = true }
            if message.direction == .toServer { openingFingerprint.add(message, ignore) }
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

    package consuming func finish() -> Script {
        script.complete(build, messages)
        return script
    }

    /// The session with its script, whose messages are read from `tape`.
    package consuming func finish(_ session: RecordedSession, from tape: any PayloadSource) -> RecordedSession {
        messages.tape = tape
        messages.codec = session.writer.withoutHistory()
        script.complete(build, messages)
        var session = session
        session.writer = session.writer.withoutHistory()
        var digested = session.digested
        digested.script = script
        digested.openingFingerprint = openingFingerprint
        session.digested = digested
        return session
    }

    /// Whether the session can be read again from its events alone.
    package var canBeCold: Bool {
        readsAgain && start != nil && messages.kept.isEmpty && script.steps.count < 4_096 && session.redirects.isEmpty
            && !hasCrossings
    }

    /// What is kept of it then. `names` counts what its messages are called.
    package func cold(names: inout [String: Int]) -> ColdPart {
        script.count(into: &names)
        var part = ColdPart(openingFingerprint: openingFingerprint, start: start ?? 0)
        part.gates = script.gates
        part.lastLine = script.steps.last.map { Int($0.line) }
        for (i, step) in script.steps.enumerated() {
            if let ending = messages.endings[Int32(clamping: i)] {
                let entry = RecordedSession.Entry(
                    event: UInt64(messages.events[i]), line: Int(step.line), time: step.time, connection: 0,
                    frame: Int(step.frame), .ending(ending))
                part.endings.append((part.events.count, entry))
            } else {
                part.events.append(messages.events[i])
            }
        }
        return part
    }
}
