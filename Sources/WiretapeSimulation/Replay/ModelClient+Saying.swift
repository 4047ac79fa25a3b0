internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

extension ModelClient {
    /// Says what is due, and works out when to wake next. Called when something has changed.
    func proceed(into out: inout [ClientAction]) {
        var batch: [UInt8] = []
        var sayings: [Saying] = []
        let slot = mainSlot
        while phase == .ready, mainSlot == slot, let line = nextLine() {
            guard let due = dueAt, due <= now else { break }
            let isNew = sayings.isEmpty
            for (n, line) in mischiefs(line).enumerated() {
                // What it says twice goes on under the first id.
                let map = ids.map
                say(line, &batch, &sayings)
                if n > 0 { ids.map = map }
            }
            dueAt = nil
            dueLine = nil
            eventCount += 1
            if !habits.joins || isCutDue || (!isNew && random.below(3) == 0) {
                transmit(batch, sayings, into: &out)
                batch = []
                sayings = []
            }
            cutWhenDue(into: &out)
        }
        transmit(batch, sayings, into: &out)
        if phase == .ready, mainSlot == slot { leaveWhenDone(into: &out) }
    }

    /// The line that is said next; sets when. Nil when it is the server's turn.
    private func nextLine() -> Int? {
        if let first = play.questions.min(by: { $0.due < $1.due }), !holds(first.answer),
            dueLine == nil || first.due <= dueAt ?? .zero
        {
            dueLine = first.answer
            dueAt = first.due.advanced(by: lateness(first.answer))
            return first.answer
        }
        guard let line = play.again.first ?? play.order.dropFirst(play.at).first else {
            dueLine = nil
            dueAt = nil
            return nil
        }
        if dueLine == line { return line }
        let isAgain = !play.again.isEmpty
        guard isAgain || !play.waiting.contains(line) || !play.awaits(before: line), mayMischievouslySay(line) else {
            dueLine = nil
            dueAt = nil
            return nil
        }
        dueLine = line
        // What a lost connection left open is asked again at once: an ending waits no longer than the grace.
        let think = random.draw(in: habits.think)
        dueAt = now.advanced(by: (isAgain ? min(think, 100_000_000) : think) + lateness(line))
        return line
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
        if opens { ids.open(message, line: line) }
        let bytes = written(message, line)
        var seen: [Message] = []
        ear?.decode(bytes.span, message.opcode, .toServer, into: &seen)
        play.said[line] = true
        play.saidIn[line] = generation
        batch += bytes
        sayings.append(
            Saying(
                session: current, line: isAltered(line) ? nil : line, generation: generation,
                chain: message.chain.map { Chain(ids.map.live($0), origin: $0.origin) },
                opens: message.opens.map { Chain(ids.map.live($0), origin: $0.origin) }))
        if let saying = sayings.last { memory?.saying(bytes, saying) }
    }

    private func written(_ message: Message, _ line: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        _ = play.talk.session.writer.write(message, ids: ids.map, on: .ws, into: &bytes)
        return isAltered(line) ? ModelClient.altered(bytes) : bytes
    }

    /// Hands bytes to the transport.
    func transmit(
        _ bytes: [UInt8], _ sayings: [Saying], opcode: Opcode? = nil, into out: inout [ClientAction]
    ) {
        guard !bytes.isEmpty, let slot = mainSlot else { return }
        lastSaid = now
        if !sayings.isEmpty { lastNews = now }
        guard habits.transport == .ws else {
            outbox.append((bytes, sayings))
            return flushPosts(into: &out)
        }
        out.append(.message(slot: slot, opcode ?? (isBinary ? .binary : .text), bytes, sayings))
    }

    /// One POST after the other; what has gathered meanwhile goes in one.
    func flushPosts(into out: inout [ClientAction]) {
        guard !isPosting, !outbox.isEmpty, let token else { return }
        let slot = postSlot ?? newSlot()
        postSlot = slot
        isPosting = true
        let target = "\(play.talk.session.route)?id=\(token)"
        let type = HeaderField(
            "Content-Type", isBinary ? "application/octet-stream" : "text/plain;charset=UTF-8")
        out.append(
            .request(
                slot: slot, head("POST", target, [type]), body: outbox.flatMap(\.bytes), outbox.flatMap(\.sayings)))
        outbox = []
    }
}
