internal import WiretapeBytes

/// What a target makes of an input: its first byte decides how the rest is given.
struct FuzzInput {
    /// Of the first byte: eight choices.
    let choices: UInt8
    let payload: [UInt8]

    init(_ bytes: [UInt8]) {
        choices = bytes.first ?? 0
        payload = Array(bytes.dropFirst())
    }

    /// One of the eight choices.
    func chooses(_ bit: Int) -> Bool { choices >> UInt8(bit) & 1 == 1 }

    /// The payload whole.
    var whole: [[UInt8]] { [payload] }

    /// The payload cut at places that the choices and the length draw; now and then at every byte.
    var pieces: [[UInt8]] {
        var random = SplitMix64(seed: UInt64(choices) << 32 | UInt64(payload.count))
        let largest = [1, 3, 16, 200][random.below(4)]
        var pieces: [[UInt8]] = []
        var at = 0
        while at < payload.count {
            let end = min(payload.count, at + 1 + random.below(largest))
            pieces.append(Array(payload[at..<end]))
            at = end
        }
        return pieces
    }

    /// The payload as turns of a conversation: a byte of choices and one of length before each. What the length promises and
    /// the input does not have is left out.
    var turns: [Turn] {
        var turns: [Turn] = []
        var at = 0
        while at + 2 <= payload.count {
            let end = min(payload.count, at + 2 + Int(payload[at + 1]))
            turns.append(Turn(choices: payload[at], bytes: Array(payload[at + 2..<end])))
            at = end
        }
        return turns
    }

    struct Turn {
        let choices: UInt8
        let bytes: [UInt8]

        func chooses(_ bit: Int) -> Bool { choices >> UInt8(bit) & 1 == 1 }
    }
}
