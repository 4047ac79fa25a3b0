internal import WiretapeBytes

/// `corrupt(bits=3)`, `corrupt(utf8)`.
enum CorruptFault {
    private static let words = ["bits", "bytes", "utf8", "json", "length", "mask", "rsv"]

    package static let entry = FaultEntry(
        word: "corrupt",
        summary:
            "damage: so many bits or bytes of the payload (1 unless said), a byte that is no UTF-8, a lost bracket of JSON, a length that is one too large, a mask that must not be, a reserved bit",
        examples: [
            "corrupt on ReceiveMessage[2]", "corrupt(bytes=4) on next[1]", "corrupt(utf8) on message[3]",
            "corrupt(length) + reset on StreamItem[1]", "corrupt(rsv) on message[every 10]",
        ]
    ) { arguments, text throws(PlanError) in
        guard let first = arguments.arguments.first else { return (.message(.corrupt(.bits(1))), "") }
        guard arguments.arguments.count == 1 else {
            throw text.error("corrupt takes one kind of damage", at: arguments.arguments[1].at)
        }
        let word = first.key ?? first.value
        guard words.contains(word) else {
            let hint = NearestName.hint(word, among: words)
            throw text.error("'\(word)' is none of \(words.joined(separator: ", "))\(hint)", at: first.at)
        }
        guard word == "bits" || word == "bytes" else {
            guard first.key == nil else { throw text.error("corrupt(\(word)) takes no number", at: first.at) }
            return (.message(.corrupt(plain(word))), word)
        }
        var count = 1
        if first.key != nil {
            guard let value = Int(first.value), (1...1_000_000).contains(value) else {
                throw text.error("'\(first.value)' is not a number from 1 to 1000000", at: first.at)
            }
            count = value
        }
        return (.message(.corrupt(word == "bits" ? .bits(count) : .bytes(count))), "\(word)=\(count)")
    }

    private static func plain(_ word: String) -> Corruption {
        switch word {
        case "utf8": .utf8
        case "json": .json
        case "length": .length
        case "mask": .mask
        default: .rsv
        }
    }
}
