/// What keys of well-known services look like, and what randomness looks like.
enum Keys {
    /// How they begin, and how long they are at least.
    private static let beginnings: [(text: String, least: Int)] = [
        ("AIza", 39), ("AKIA", 20), ("ASIA", 20), ("SG.", 50), ("dop_v1_", 60), ("ek_", 35), ("ghp_", 36), ("gho_", 36),
        ("ghs_", 36), ("ghu_", 36), ("ghr_", 36), ("github_pat_", 40), ("glpat-", 24), ("npm_", 36), ("rk_live_", 24),
        ("rk_test_", 24), ("shpat_", 32), ("sk-", 40), ("sk_live_", 24), ("sk_test_", 24), ("whsec_", 32),
        ("xoxa-", 24), ("xoxb-", 24), ("xoxp-", 24), ("xoxs-", 24), ("ya29.", 30),
    ]
    private static let longest = 512
    /// By byte, whether a key begins with it.
    private static let firsts: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for (text, _) in beginnings { table[Int(text.utf8.first ?? 0)] = true }
        return table
    }()

    /// Where a key stands in a word: at its beginning, or after anything but a letter or digit.
    package static func range(in word: [UInt8]) -> Range<Int>? {
        let firsts = firsts
        var isStart = true
        for start in word.indices {
            defer { isStart = !TextScan.isLetterOrDigit(word[start]) }
            if isStart, firsts[Int(word[start])] {
                for (text, least) in beginnings
                where word.count - start >= least && word[start...].starts(with: text.utf8) {
                    var end = start
                    let most = min(word.count, start + longest)
                    while end < most, word[end] != UInt8(ascii: "/"), word[end] != UInt8(ascii: "%") { end += 1 }
                    let key = word[start..<end]
                    if end - start >= least, key.contains(where: { (0x30...0x39).contains($0) }) { return start..<end }
                }
            }
        }
        return nil
    }

    /// Whether more bytes may make one of it.
    static func mayBegin(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, firsts[Int(first)] else { return false }
        return beginnings.contains { $0.text.utf8.starts(with: word) || word.starts(with: $0.text.utf8) }
    }

    /// Whether the text may have been drawn at random: 16 bytes or more with at least one digit and one letter.
    static func isMixed(_ text: ArraySlice<UInt8>) -> Bool {
        text.count >= 16 && text.contains { (0x30...0x39).contains($0) }
            && text.contains { (0x41...0x5a).contains($0 & 0xdf) }
    }

    /// Whether it is as random as a key in base64: 32 letters and digits of all kinds, few of them twice.
    static func isRandom(_ word: [UInt8]) -> Bool {
        guard (32...512).contains(word.count) else { return false }
        var counts = [Int](repeating: 0, count: 256)
        var (hasUpper, hasLower, digits) = (false, false, 0)
        for byte in word {
            counts[Int(byte)] += 1
            switch byte {
            case 0x41...0x5a: hasUpper = true
            case 0x61...0x7a: hasLower = true
            case 0x30...0x39: digits += 1
            case UInt8(ascii: "."), UInt8(ascii: "%"): return false
            case UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "~"): break
            default: return false
            }
        }
        guard hasUpper, hasLower, digits >= 3 else { return false }
        // Of 32 random letters of 64 about 25 differ; words repeat theirs. No logarithms: pairs tell the same.
        let pairs = counts.reduce(0) { $0 + $1 * ($1 - 1) / 2 }
        return pairs * 24 <= word.count * (word.count - 1) / 2
    }
}
