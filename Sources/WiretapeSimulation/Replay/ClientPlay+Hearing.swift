internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ClientPlay {
    /// A message of the server, with the ids of this connection.
    /// - Returns: 1 when it is the replay's own refusal, else 0.
    mutating func hear(_ message: Message, _ ids: inout LiveIDs, at now: WireInstant, think: UInt64) -> Int {
        let key = message.matchKey
        guard let chain = message.chain else {
            guard let line = find(key, { $0.opener == nil }) else { return stranger(message) }
            note(line)
            pushes += 1
            return 0
        }
        if chain.origin == .toServer {
            guard let opener = ids.openers[chain.id] else {
                if message.meaning["error"]?.string?.hasPrefix("wiretape:") == true { return 1 }
                strange.append("\(message.title): nobody asked under that id")
                return 0
            }
            guard let line = find(key, { $0.opener == opener }) else { return stranger(message) }
            note(line)
            pushes += message.role == .push ? 1 : 0
            return 0
        }
        guard let line = find(key, { $0.role == message.role && $0.opener != nil }) else { return stranger(message) }
        note(line)
        pushes += 1
        if let recorded = talk.lines[line].message?.chain { ids.bind(recorded, to: chain.id) }
        if let answer = answer(to: line), !said[answer], !questions.contains(where: { $0.answer == answer }) {
            questions.append((answer, now.advanced(by: think)))
        }
        return 0
    }

    private mutating func stranger(_ message: Message) -> Int {
        if message.meaning["error"]?.string?.hasPrefix("wiretape:") == true { return 1 }
        strange.append(message.title)
        return 0
    }

    mutating func note(_ line: Int) {
        heard[line] = .yes
        counts[line] += 1
    }

    /// The first line of that meaning that has not come; else the last that has.
    private func find(_ key: String, _ fits: (Conversation.Line) -> Bool) -> Int? {
        var came: Int?
        for (i, line) in talk.lines.enumerated() where line.direction == .toClient && line.key == key && fits(line) {
            if heard[i] == .no { return i }
            came = i
        }
        return came
    }

    /// The server's farewell.
    mutating func heardClose(_ message: Message) {
        guard let line = find(message.matchKey, { $0.role == .close }) else {
            strange.append(message.title)
            return
        }
        note(line)
    }

    /// The ending that came was not the tape's.
    mutating func reopenEnd() {
        hasEnded = false
        isOver = false
        for line in talk.lines.indices where talk.lines[line].ending != nil { heard[line] = .no }
    }

    /// The server ended the connection.
    mutating func heardEnd() {
        guard let line = talk.lines.indices.first(where: { talk.lines[$0].ending != nil && heard[$0] == .no }),
            !awaits(before: line)
        else { return }
        note(line)
        hasEnded = true
    }
}
