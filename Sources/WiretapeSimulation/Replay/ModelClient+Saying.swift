internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    /// Says what is due, and works out when to wake next. Called when something has changed.
    func proceed(into out: inout [ClientAction]) {
        var batch: [UInt8] = []
        var sayings: [Saying] = []
        let slot = connection.slot
        while phase == .ready, connection.slot == slot, let line = nextLine() {
            guard agenda.isDue(at: now) else { break }
            let isNew = sayings.isEmpty
            for (n, line) in mischiefs(line).enumerated() {
                // What it says twice goes on under the first id.
                let map = voice.map
                say(line, &batch, &sayings)
                if n > 0 { voice.goBack(to: map) }
            }
            agenda.clear()
            connection.count()
            if !habits.joins || isCutDue || (!isNew && random.below(3) == 0) {
                transmit(batch, sayings, into: &out)
                batch = []
                sayings = []
            }
            cutWhenDue(into: &out)
        }
        transmit(batch, sayings, into: &out)
        if phase == .ready, connection.slot == slot { leaveWhenDone(into: &out) }
    }

    /// The line that is said next; sets when. Nil when it is the server's turn.
    private func nextLine() -> Int? {
        if let first = play.questions.min(by: { $0.due < $1.due }), !holds(first.answer),
            agenda.line == nil || first.due <= agenda.due ?? .zero
        {
            agenda.plan(first.answer, at: first.due.advanced(by: mischief.lateness(first.answer, of: current)))
            return first.answer
        }
        guard let line = play.again.first ?? play.order.dropFirst(play.at).first else {
            agenda.clear()
            return nil
        }
        if agenda.line == line { return line }
        let isAgain = !play.again.isEmpty
        guard isAgain || !play.waiting.contains(line) || !play.awaits(before: line),
            mischief.maySay(line, of: current, pushes: play.pushes)
        else {
            agenda.clear()
            return nil
        }
        // What a lost connection left open is asked again at once: an ending waits no longer than the grace.
        let think = random.draw(in: habits.think)
        let wait = (isAgain ? min(think, 100_000_000) : think) + mischief.lateness(line, of: current)
        agenda.plan(line, at: now.advanced(by: wait))
        return line
    }

    /// Whether mischief holds back an answer to the server's question.
    private func holds(_ answer: Int) -> Bool {
        mischief.holds(answer, of: current, pushes: play.pushes, said: play.at, of: play.order.count)
    }

    func say(_ line: Int, _ batch: inout [UInt8], _ sayings: inout [Saying]) {
        guard let message = play.talk.lines[line].message else { return }
        if let i = play.questions.firstIndex(where: { $0.answer == line }) {
            play.questions.remove(at: i)
        } else if play.again.first == line {
            play.again.removeFirst()
        } else if play.at < play.order.count, play.order[play.at] == line {
            play.at += 1
        }
        let opens = message.role == .request || !message.opens.isEmpty
        if opens { voice.open(message, line: line) }
        let bytes = written(message, line)
        voice.follow(bytes, message.opcode)
        play.said[line] = true
        play.saidIn[line] = generation
        batch += bytes
        let saying = Saying(
            session: current, line: mischief.isAltered(line, of: current) ? nil : line, generation: generation,
            chain: message.chain.map(voice.live), opens: message.opens.map(voice.live))
        sayings.append(saying)
        memory.saying(bytes, saying)
    }

    private func written(_ message: Message, _ line: Int) -> [UInt8] {
        let bytes = voice.write(message, by: play.talk.session.writer)
        return mischief.isAltered(line, of: current) ? ModelClient.altered(bytes) : bytes
    }

    /// Hands bytes to the transport.
    func transmit(
        _ bytes: [UInt8], _ sayings: [Saying], opcode: Opcode? = nil, into out: inout [ClientAction]
    ) {
        guard !bytes.isEmpty, let slot = connection.slot else { return }
        connection.said(isNews: !sayings.isEmpty, at: now)
        guard habits.transport == .ws else {
            posts.gather(bytes, sayings)
            return flushPosts(into: &out)
        }
        out.append(.message(slot: slot, opcode ?? voice.opcode, bytes, sayings))
    }

    /// One POST after the other; what has gathered meanwhile goes in one.
    func flushPosts(into out: inout [ClientAction]) {
        guard let token, let post = posts.next(newSlot) else { return }
        let target = "\(play.talk.session.route)?id=\(token)"
        let type = HeaderField("Content-Type", voice.contentType)
        out.append(.request(slot: post.slot, head("POST", target, [type]), body: post.body, post.sayings))
    }
}
