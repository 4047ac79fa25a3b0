internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// In which order a client says its lines, and which of them wait for everything that was recorded before them. Answers to
/// the server's questions are not among them: they are said when the question has come.
struct SayingOrder {
    private(set) var lines: [Int] = []
    /// Lines that wait until all lines of the server before them have come.
    private(set) var waiting: Set<Int> = []

    init(_ talk: Conversation, _ order: ClientHabits.Order, _ random: inout SplitMix64) {
        let own = talk.lines.indices.filter { i in
            talk.lines[i].direction == .toServer && talk.lines[i].role != .handshake && talk.lines[i].role != .reply
                && talk.lines[i].role != .close
        }
        switch order {
        case .recorded, .pipelined: lines = own
        case .swapped:
            lines = own
            var i = 0
            while i + 1 < lines.count {
                if SayingOrder.areNeighbours(lines[i], lines[i + 1], talk), random.below(2) == 0 {
                    lines.swapAt(i, i + 1)
                    i += 1
                }
                i += 1
            }
        case .eager: lines = SayingOrder.extended(own, talk, &random)
        }
        guard order != .pipelined else { return }
        // Waiting for everything before a line is safe only when all that this depends on has been said by then.
        var latest = -1
        var said = 0
        for line in lines {
            let isSafe = line > latest && own.prefix { $0 < line }.count == said
            if isSafe, order != .eager || random.below(3) == 0 { waiting.insert(line) }
            latest = max(latest, line)
            said += 1
        }
        if order == .swapped {
            // A swapped pair waits for what came before both.
            for line in own where !waiting.contains(line) { waiting.insert(line) }
        }
    }

    /// Whether nothing of the server stands between the two, and neither belongs to what the other opened.
    private static func areNeighbours(_ a: Int, _ b: Int, _ talk: Conversation) -> Bool {
        let (a, b) = (min(a, b), max(a, b))
        guard talk.lines[a].key != talk.lines[b].key else { return false }
        guard !talk.lines[a..<b].contains(where: { $0.direction == .toClient }) else { return false }
        return talk.lines[a].opener == nil || talk.lines[a].opener != talk.lines[b].opener
    }

    /// Any order that keeps that of every chain, within six places of the recorded one.
    private static func extended(_ own: [Int], _ talk: Conversation, _ random: inout SplitMix64) -> [Int] {
        var left = own
        var order: [Int] = []
        while !left.isEmpty {
            let pick = random.below(min(left.count, 6))
            let line = talk.lines[left[pick]]
            // What continues a chain keeps its place in it; of equal messages nobody can tell which comes first.
            let place = left.firstIndex {
                line.opener != nil && line.opener != left[pick]
                    ? talk.lines[$0].opener == line.opener : talk.lines[$0].key == line.key
            }
            order.append(left.remove(at: place ?? pick))
        }
        return order
    }
}
