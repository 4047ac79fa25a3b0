import Testing
import WiretapeWire

@Suite("Text for one line")
struct SummaryTests {
    @Test("at most so many characters, whatever they are made of", arguments: ["a", "é", "😀", "👩‍👩‍👧", "e\u{301}"])
    func limits(_ character: String) {
        for count in 118...123 {
            let line = Summary.line(String(repeating: character, count: count))
            #expect(line.count == min(count, 120))
            #expect(line.hasSuffix("…") == (count > 120))
        }
    }

    @Test("a mark that belongs to the last character is not cut from it")
    func marks() {
        let text = String(repeating: "a", count: 119)
        #expect(Summary.line(text + "e\u{301}") == text + "e\u{301}")
        #expect(Summary.line(text + "e\u{301}b") == text + "…")
        #expect(Summary.line(text + "bé") == text + "…")
    }

    @Test("controls are written out")
    func controls() {
        #expect(Summary.line("a\nb\u{202e}") == "a\\u{a}b\\u{202e}")
        #expect(Summary.line("\r\n" + String(repeating: "a", count: 200)).hasPrefix("\\u{d}\\u{a}aaa"))
    }
}
