internal import WiretapeBytes
internal import WiretapeTape
internal import WiretapeWire

/// What was meant by a line that is no event, or has words that this version does not know.
enum TapeLineAdvice {
    /// The kinds of events.
    static let kinds = [
        "open", "request", "response", "chunk", "end", "message", "part", "ping", "pong", "close", "gone", "fault",
        "mark",
        "take", "gap", "stop",
    ]

    /// The keys of a line that no version 1 event has, and where each stands.
    static func unknownKeys(_ line: [UInt8]) -> [(name: String, column: Int)] {
        JSONMembers(of: line).places.filter { TapeKey(rawValue: $0.name) == nil }.map {
            // From the value back to the key's opening quote.
            let end = line[..<$0.value.lowerBound].lastIndex(of: UInt8(ascii: "\"")) ?? 0
            let start = line[..<end].lastIndex(of: UInt8(ascii: "\"")) ?? 0
            return ($0.name, start + 1)
        }
    }

    static func hint(key: String) -> String { NearestName.hint(key, among: TapeKey.allCases.map(\.rawValue)) }
    static func hint(kind: String) -> String { NearestName.hint(kind, among: kinds) }

    /// What is usually meant where JSON goes wrong; empty when nothing is known.
    static func hint(_ line: [UInt8], at offset: Int) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        guard line.contains(where: { !isBlank($0) && $0 != UInt8(ascii: "{") }) else { return "" }
        if line.first(where: { !isBlank($0) }) != UInt8(ascii: "{") {
            return "; a line is a JSON object, {…}, or a comment, which begins with #"
        }
        guard offset < line.count else {
            return "; a quote, bracket or brace is not closed, or the line was broken in two"
        }
        let byte = line[offset]
        let before = line[..<offset].last { !isBlank($0) }
        if byte == UInt8(ascii: "'") { return "; texts and keys stand in double quotes" }
        if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]"), before == UInt8(ascii: ",") {
            return "; the comma before it is one too many"
        }
        if byte == UInt8(ascii: "\""), before != UInt8(ascii: ","), before != UInt8(ascii: "{") {
            return "; is a comma missing before it?"
        }
        if before == UInt8(ascii: "{") || before == UInt8(ascii: ",") { return "; keys stand in double quotes" }
        let words = [("True", "true"), ("False", "false"), ("None", "null"), ("undefined", "null"), ("NaN", "null")]
        for (word, meant) in words where line[offset...].starts(with: word.utf8) { return "; JSON spells it \(meant)" }
        if line[offset...].starts(with: "//".utf8) || byte == UInt8(ascii: "#") {
            return "; a comment stands on a line of its own, which begins with #"
        }
        return ""
    }
}
