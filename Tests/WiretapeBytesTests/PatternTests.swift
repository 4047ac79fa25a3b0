import Testing
import WiretapeBytes

/// Regular expressions of rules.
@Suite struct PatternTests {
    private func finds(_ pattern: String, _ text: String) throws -> Bool {
        try Pattern(pattern).isFound(in: Array(text.utf8))
    }

    @Test(arguments: [
        ("abc", "xxabcxx", true), ("abc", "ab", false), ("^abc", "abc", true), ("^abc", "xabc", false),
        ("abc$", "xabc", true), ("abc$", "abcx", false), ("a.c", "a\nc", false), ("a.c", "abc", true),
        ("ab*c", "ac", true), ("ab+c", "ac", false), ("ab+c", "abbbc", true), ("ab?c", "abbc", false),
        ("a{2,3}b", "ab", false), ("a{2,3}b", "aab", true), ("^a{2}$", "aaa", false), ("^a{2,}$", "aaaa", true),
        ("cat|dog", "hotdog", true), ("^(cat|dog)s?$", "dogs", true), ("^(?:cat|dog)s?$", "dogss", false),
        ("[a-c]+[^0-9]", "b7", false), ("[a-c]+[^0-9]", "bx", true), ("\\d+\\.\\d", "3.5", true),
        ("\"id\":\\s*7\\b", "", false), ("[]x]", "]", true), ("[^]]", "]", false), ("[a-]", "-", true),
        ("(?i)HeLLo", "hello", true), ("(?i)[a-c]", "B", true), ("grü", "grün", true), ("\\{\\}", "{}", true),
        ("", "", true), ("$", "x", true), ("a|", "b", true), ("(a*)*b", "aaab", true), (".*?x", "yyx", true),
    ])
    func finding(_ pattern: String, _ text: String, _ wanted: Bool) throws {
        guard !pattern.contains("\\b") else {
            #expect(throws: Pattern.Fault.self) { try Pattern(pattern) }
            return
        }
        #expect(try finds(pattern, text) == wanted)
    }

    @Test(arguments: [
        "(", ")", "a)", "[a", "*", "a{", "a{2", "a{3,2}", "a{999}", "\\", "\\q", "(?=x)", "[z-a]", "[ä]",
        "((a{99}){99}){99}",
    ])
    func badPatterns(_ pattern: String) {
        #expect(throws: Pattern.Fault.self) { try Pattern(pattern) }
    }

    @Test func whatIsBehindTheReachIsNotSeen() throws {
        let text = String(repeating: "a", count: Pattern.reach) + "b"
        #expect(try !finds("b", text))
        #expect(try finds("a$", text))
    }

    @Test func catastrophicPatternsStayLinear() throws {
        // A backtracking engine needs 2^40 steps for it.
        #expect(try !finds("^(a+)+$", String(repeating: "a", count: 40) + "b"))
        #expect(try !finds("(x+x+)+y", String(repeating: "x", count: 4_000)))
    }

    @Test func hostilePatternsNeverTrap() {
        var draw = SplitMix64(seed: 11)
        let pieces = [
            "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", ".", "a", "-", ",", "9", "(?", "ä",
            "\u{301}",
        ]
        for _ in 0..<6_000 {
            let text = (0..<draw.below(14)).map { _ in pieces[draw.below(pieces.count)] }.joined()
            guard let pattern = try? Pattern(text) else { continue }
            _ = pattern.isFound(in: Array("aa9-,ä".utf8))
        }
        #expect(throws: Pattern.Fault.self) { try Pattern(String(repeating: "(", count: 10_000)) }
    }
}
