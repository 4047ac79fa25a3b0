/// What a pattern says.
indirect enum PatternNode {
    case empty, start, end
    case bytes(ByteSet)
    case sequence([PatternNode])
    case either(PatternNode, PatternNode)
    case repeated(PatternNode, Int, Int?)
}

/// Some of the 256 bytes.
struct ByteSet: Hashable, Sendable {
    private var words: [UInt64] = [0, 0, 0, 0]

    init(_ ranges: ClosedRange<UInt8>...) { for range in ranges { insert(range) } }

    package mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
    }

    package mutating func formUnion(_ other: ByteSet) { for i in 0..<4 { words[i] |= other.words[i] } }

    var inverted: ByteSet {
        var set = self
        for i in 0..<4 { set.words[i] = ~words[i] }
        return set
    }

    package func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1 }
}

/// Reads a pattern: recursive descent with a limit on depth.
struct PatternParser {
    private let scalars: [Unicode.Scalar]
    private var at = 0
    private var depth = 0
    private var ignoresCase = false
    private static let depthLimit = 64
    private static let mostRepeats = 255

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    package mutating func parse() throws(Pattern.Fault) -> PatternNode {
        if scalars.starts(with: "(?i)".unicodeScalars) {
            ignoresCase = true
            at = 4
        }
        let node = try alternatives()
        guard at == scalars.count else { throw fault("')' closes nothing") }
        return node
    }

    private var next: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

    private func fault(_ reason: String) -> Pattern.Fault { Pattern.Fault(reason: reason, at: at) }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        at += 1
        return true
    }

    private mutating func alternatives() throws(Pattern.Fault) -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PatternParser.depthLimit else { throw fault("nested too deeply") }
        var node = try sequence()
        while take("|") { node = .either(node, try sequence()) }
        return node
    }

    private mutating func sequence() throws(Pattern.Fault) -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" { nodes.append(try repeated()) }
        return .sequence(nodes)
    }

    private mutating func repeated() throws(Pattern.Fault) -> PatternNode {
        var node = try atom()
        while let scalar = next {
            switch scalar {
            case "*": node = .repeated(node, 0, nil)
            case "+": node = .repeated(node, 1, nil)
            case "?": node = .repeated(node, 0, 1)
            case "{": node = try counted(node)
            default: return node
            }
            at += 1
            // Lazy or not: whether it is found stays the same.
            _ = take("?")
        }
        return node
    }

    /// `{2}`, `{2,}`, `{2,5}`; left at the closing bracket.
    private mutating func counted(_ node: PatternNode) throws(Pattern.Fault) -> PatternNode {
        at += 1
        guard let least = number() else { throw fault("a count such as {2,5} was expected") }
        var most: Int? = least
        if take(",") { most = next == "}" ? nil : number() ?? -1 }
        guard next == "}", most.map({ $0 >= least }) ?? true else {
            throw fault("a count such as {2,5} was expected")
        }
        guard max(least, most ?? 0) <= PatternParser.mostRepeats else {
            throw fault("more than \(PatternParser.mostRepeats) repetitions")
        }
        return .repeated(node, least, most)
    }

    private mutating func number() -> Int? {
        var digits = ""
        while let scalar = next, ("0"..."9").contains(scalar), digits.utf8.count < 6 {
            digits.unicodeScalars.append(scalar)
            at += 1
        }
        return Int(digits)
    }

    private mutating func atom() throws(Pattern.Fault) -> PatternNode {
        guard let scalar = next else { return .empty }
        at += 1
        switch scalar {
        case "(":
            if take("?"), !take(":") { throw fault("only (?:…) and (?i) at the beginning are known") }
            let node = try alternatives()
            guard take(")") else { throw fault("'(' is never closed") }
            return node
        case ".": return .bytes(ByteSet(0x0a...0x0a).inverted)
        case "^": return .start
        case "$": return .end
        case "[": return .bytes(try bracketed())
        case "\\": return try escaped()
        case "*", "+", "?", "{": throw Pattern.Fault(reason: "'\(scalar)' repeats nothing", at: at - 1)
        default: return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> PatternNode {
        let bytes = Array(String(scalar).utf8)
        guard bytes.count == 1 else { return .sequence(bytes.map { .bytes(ByteSet($0...$0)) }) }
        var set = ByteSet(bytes[0]...bytes[0])
        if ignoresCase, scalar.properties.isAlphabetic { set.insert((bytes[0] ^ 0x20)...(bytes[0] ^ 0x20)) }
        return .bytes(set)
    }

    private mutating func escaped() throws(Pattern.Fault) -> PatternNode {
        guard let scalar = next else { throw fault("a '\\' at the end") }
        at += 1
        if let set = PatternParser.named(scalar) { return .bytes(set) }
        guard !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) else {
            throw Pattern.Fault(reason: "'\\\(scalar)' is not known", at: at - 1)
        }
        return literal(scalar)
    }

    private static func named(_ scalar: Unicode.Scalar) -> ByteSet? {
        let digits = ByteSet(0x30...0x39)
        let blanks = ByteSet(0x09...0x0d, 0x20...0x20)
        let word = ByteSet(0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a)
        switch scalar {
        case "d": return digits
        case "D": return digits.inverted
        case "s": return blanks
        case "S": return blanks.inverted
        case "w": return word
        case "W": return word.inverted
        case "n": return ByteSet(0x0a...0x0a)
        case "r": return ByteSet(0x0d...0x0d)
        case "t": return ByteSet(0x09...0x09)
        default: return nil
        }
    }

    private mutating func bracketed() throws(Pattern.Fault) -> ByteSet {
        let isInverted = take("^")
        var set = ByteSet()
        var isFirst = true
        while let scalar = next, scalar != "]" || isFirst {
            isFirst = false
            at += 1
            if scalar == "\\", let named = next.flatMap(PatternParser.named) {
                at += 1
                set.formUnion(named)
                continue
            }
            let low = try byte(scalar)
            var high = low
            if next == "-", at + 1 < scalars.count, scalars[at + 1] != "]" {
                at += 1
                let last = scalars[at]
                at += 1
                high = try byte(last)
            }
            guard low <= high else { throw fault("an empty range") }
            set.insert(low...high)
            if ignoresCase {
                for letter in low...high where (letter | 0x20) >= 0x61 && (letter | 0x20) <= 0x7a {
                    set.insert((letter ^ 0x20)...(letter ^ 0x20))
                }
            }
        }
        guard take("]") else { throw fault("'[' is never closed") }
        return isInverted ? set.inverted : set
    }

    /// One byte of a class; what is not ASCII cannot stand there.
    private mutating func byte(_ scalar: Unicode.Scalar) throws(Pattern.Fault) -> UInt8 {
        var scalar = scalar
        if scalar == "\\" {
            guard let escaped = next else { throw fault("a '\\' at the end") }
            at += 1
            scalar = escaped
        }
        guard scalar.isASCII else { throw fault("only ASCII can stand in brackets") }
        return UInt8(scalar.value)
    }
}
