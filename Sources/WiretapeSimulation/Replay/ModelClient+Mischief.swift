internal import WiretapeBytes
internal import WiretapeWire

/// What a client says where it does something wrong on purpose (``ClientMischief``).
extension ModelClient {
    /// How often the handshake is said now. What is held back until a push never comes: none is sent before it.
    func handshakes(_ line: Int, into out: inout [ClientAction]) -> Int {
        guard let what = mischief.begin(line, of: current) else { return 1 }
        switch what {
        case .drop, .afterNextPush: return 0
        case .late(let by):
            agenda.wait(until: now.advanced(by: by))
            return 0
        case .double: return 2
        case .swap:
            var bytes: [UInt8] = []
            var sayings: [Saying] = []
            if let next = play.order.first { say(next, &bytes, &sayings) }
            transmit(bytes, sayings, opcode: .text, into: &out)
            return 1
        case .alter, .extra: return 1
        }
    }

    /// What is said instead of a line that is due: nothing, the line, or it and another.
    func mischiefs(_ line: Int) -> [Int] {
        guard let what = mischief.begin(line, of: current) else { return [line] }
        switch what {
        case .drop:
            skip(line)
            return []
        case .double: return [line, line]
        case .swap:
            guard let position = play.order.firstIndex(of: line), position + 1 < play.order.count else {
                return [line]
            }
            play.order.swapAt(position, position + 1)
            play.waiting.remove(play.order[position])
            return []
        case .extra, .alter, .late, .afterNextPush: return [line]
        }
    }

    /// As if it had been said.
    private func skip(_ line: Int) {
        play.said[line] = true
        // Who does not ask waits for no answer.
        if play.talk.lines[line].opener == line { play.unasked.insert(line) }
        if let i = play.questions.firstIndex(where: { $0.answer == line }) {
            play.questions.remove(at: i)
        } else {
            play.at += 1
        }
    }

    /// The same message with another argument, item or result: every digit of its values is changed.
    static func altered(_ bytes: [UInt8]) -> [UInt8] {
        let members = JSONMembers(of: bytes)
        var bytes = bytes
        for place in members.places where ["arguments", "item", "result", "error", "target"].contains(place.name) {
            for i in place.value where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[i]) {
                bytes[i] = bytes[i] == UInt8(ascii: "9") ? UInt8(ascii: "8") : bytes[i] + 1
            }
            if place.name == "target", let last = place.value.dropLast().last { bytes[last] = UInt8(ascii: "X") }
        }
        return bytes
    }
}
