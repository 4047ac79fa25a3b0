import Testing
import WiretapeBytes
import WiretapeRedaction
import WiretapeWire

/// Messages behind their lengths: a length is that of the message without its secrets. Whatever only looks like one stays.
@Suite struct LengthPrefixedTests {
    private static let token = "s3cr3t-öö€😀-of-some-length"
    private static let plain = [
        #"{"token":"\#(token)","x":"é € 😀"}"#, "news", #"{"again":"\#(token)|7|"}"#, "8|pipe|5|x",
        #"{"password":"pw"}"#,
    ]
    private static let bare = [
        #"{"token":"td_1","x":"é € 😀"}"#, "news", #"{"again":"td_1|7|"}"#, "8|pipe|5|x", #"{"password":"td_2"}"#,
    ]

    private static func joined(_ messages: [String], between: String = "") -> String {
        messages.map { "\($0.utf16.count)|\($0)" }.joined(separator: between)
    }

    private func redacted(_ text: String, _ rules: RedactionRules = RedactionRules()) -> String {
        var redactor = Redactor(rules)
        return redactor.text(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    @Test func lengthsOfWholeTexts() {
        let padding = String(repeating: " ", count: 2048) + "\n"
        for (before, between) in [("", ""), (padding, ""), ("", padding)] {
            #expect(
                redacted(before + Self.joined(Self.plain, between: between))
                    == before + Self.joined(Self.bare, between: between))
        }
        for (plain, bare) in zip(Self.plain, Self.bare) {
            var redactor = Redactor()
            _ = redactor.text(Array(Self.plain[0].utf8))
            let one = redactor.payload(Array(Self.joined([plain]).utf8), isBinary: true)
            #expect(one.map { String(decoding: $0, as: UTF8.self) } ?? Self.joined([plain]) == Self.joined([bare]))
        }
    }

    /// A pseudonym may be longer than its secret.
    @Test func lengthsGrow() throws {
        #expect(redacted(#"15|{"token":"abc"}3|new"#) == #"16|{"token":"td_1"}3|new"#)
        let rules = RedactionRules([
            try RedactionRule(parsing: "json:/a/0"), try RedactionRule(parsing: "regex:acct-[0-9]+"),
        ])
        #expect(redacted(#"11|{"a":["b"]}8|acct-123"#, rules) == #"14|{"a":["td_1"]}4|td_2"#)
    }

    /// Each message is one: what ends a message ends a secret in it.
    @Test func aSecretEndsWithItsMessage() {
        #expect(
            redacted(#"9|token=abc33|{"a":"0123456789012345678901234"}"#)
                == #"10|token=td_133|{"a":"0123456789012345678901234"}"#)
    }

    /// Where a length does not fit, nothing of it is changed, and secrets go all the same.
    @Test(arguments: [
        ("5|hello token=abcdef", "5|hello token=td_1"), ("9|my token=abcdef", "9|my token=td_1"),
        ("7|my token=abcdef", "7|my token=td_1"),
        (#"16|{"token":"abc"}"#, #"16|{"token":"td_1"}"#), (#"015|{"token":"abc"}"#, #"015|{"token":"td_1"}"#),
        (#"-15|{"token":"abc"}"#, #"-15|{"token":"td_1"}"#), (#"15:{"token":"abc"}"#, #"15:{"token":"td_1"}"#),
        (#"x15|{"token":"abc"}"#, #"x15|{"token":"td_1"}"#),
        (#"99999999999|{"token":"abc"}"#, #"99999999999|{"token":"td_1"}"#), ("0|token=abc", "0|token=td_1"),
        (#"{"say":"5|hello token=abcdef"}"#, #"{"say":"5|hello token=td_1"}"#),
        ("data: 5|hello token=abcdef\n\n", "data: 5|hello token=td_1\n\n"),
    ]) func whatOnlyLooksLikeALength(text: String, expected: String) {
        #expect(redacted(text) == expected)
        for cut in 0...text.utf8.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false, mayHaveLengths: true)
            var out = redactor.piece(Array(text.utf8.prefix(cut)), of: &stream)
            out += redactor.piece(Array(text.utf8.dropFirst(cut)), of: &stream)
            out += redactor.last([], of: &stream)
            #expect(String(decoding: out, as: UTF8.self) == expected, "cut at \(cut)")
        }
    }

    /// Behind messages that have lengths others may have none (Atmosphere leaves them out where it cannot count).
    @Test func othersHaveNone() {
        let text = #"15|{"token":"abc"}15|{"token":"abc"}token=abc"#
        #expect(redacted(text) == #"16|{"token":"td_1"}15|{"token":"td_1"}token=td_1"#)
        #expect(redacted(#"15|{"token":"abc"}x"#) == #"15|{"token":"td_1"}x"#)
    }

    // MARK: Spelled otherwise

    @Test func lengthsInStringsOfScripts() {
        let message = #"{"token":"it's \"\#(Self.token)\""}"#
        let bare = #"{"token":"td_1"}"#
        func script(_ text: String) -> String {
            #"cb({"message" : ""# + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + #""});"#
        }
        let spelled = script(Self.joined([message, "x"])).replacing("'", with: "\\'")
        #expect(redacted(spelled) == script(Self.joined([bare, "x"])))
        #expect(redacted(#"cb({"message" : "9|token=abc"});"#) == #"cb({"message" : "10|token=td_1"});"#)
    }

    private static let lineEnds = ["\n", "\r\n", "\r"]

    private static func event(_ text: String, _ end: String, blank: String = "") -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "data:\(blank)\($0)\(end)" }.joined() + end
    }

    /// A length of an event counts its text before it was cut into lines; with CR LF in the text, what it said then.
    @Test(arguments: lineEnds, ["", " "]) func lengthsInEvents(end: String, blank: String) {
        let pretty = "{\n\"token\":\"\(Self.token)\"\n}"
        let barePretty = "{\n\"token\":\"td_1\"\n}"
        let texts = [Self.joined([pretty]), "\(pretty.utf16.count + 2)|\(pretty)", Self.joined(["x"])]
        let bare = [Self.joined([barePretty]), "\(barePretty.utf16.count + 2)|\(barePretty)", Self.joined(["x"])]
        func stream(_ texts: [String]) -> [UInt8] {
            Array(
                (String(repeating: " ", count: 200) + end + texts.map { Self.event($0, end, blank: blank) }.joined())
                    .utf8)
        }
        let expected = String(decoding: stream(bare), as: UTF8.self)
        let all = stream(texts)
        #expect(redacted(String(decoding: all, as: UTF8.self)) == expected)
        for cut in 0...all.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false, mayHaveLengths: true)
            var out = redactor.piece(Array(all[..<cut]), of: &stream)
            out += redactor.piece(Array(all[cut...]), of: &stream)
            out += redactor.last([], of: &stream)
            #expect(String(decoding: out, as: UTF8.self) == expected, "cut at \(cut)")
        }
        var redactor = Redactor()
        var pieces = RedactedStream(isBinary: false, mayHaveLengths: true)
        var out: [UInt8] = []
        for byte in all { out += redactor.piece([byte], of: &pieces) }
        out += redactor.last([], of: &pieces)
        #expect(String(decoding: out, as: UTF8.self) == expected)
    }

    /// An event that is whole does not wait.
    @Test(arguments: lineEnds) func wholeEventsPass(end: String) {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, mayHaveLengths: true)
        for text in ["5|hello", "{\"a\":1}", "17", #"15|{"token":"abc"}"#] {
            let event = Self.event(text, end)
            // Whether a line feed follows the last carriage return is not known.
            let mayGoOn = end == "\r"
            let out = redactor.piece(Array(event.utf8), of: &stream)
            #expect(mayGoOn || !out.isEmpty && stream.waiting == 0, "\(text)")
            if mayGoOn { _ = redactor.piece(Array(": c\n".utf8), of: &stream) }
        }
    }

    // MARK: Pieces

    private static let greeting = "41|98b2609f-7aea-4c8e-b9a6-8685f5652015|0|X|"

    /// Wherever the pieces end: in a length, in a character, in a secret.
    @Test(arguments: [
        ("", false), (String(repeating: " ", count: 64) + "\n", false), (greeting, false), (greeting, true),
    ]) func everySplitGivesTheSame(before: String, keepsPieces: Bool) {
        let bytes = Array((before + Self.joined(Self.plain)).utf8)
        let expected = before + Self.joined(Self.bare)
        for cut in (keepsPieces ? before.utf8.count : 0)...bytes.count {
            for second in stride(from: cut, through: bytes.count, by: 7) {
                var redactor = Redactor()
                var stream = RedactedStream(isBinary: false, keepsPieces: keepsPieces, mayHaveLengths: true)
                var out: [UInt8] = []
                for piece in [bytes[..<cut], bytes[cut..<second], bytes[second...]] {
                    out += redactor.piece(Array(piece), of: &stream)
                }
                out += redactor.last([], of: &stream)
                #expect(String(decoding: out, as: UTF8.self) == expected, "cut at \(cut) and \(second)")
            }
        }
    }

    @Test(arguments: [(true, false), (false, true), (false, false)]) func everyByteAlone(isBinary: Bool, isFramed: Bool)
    {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: isBinary, mayBeFramed: isFramed, mayHaveLengths: true)
        var out: [UInt8] = []
        for byte in Array("  \n\(Self.joined(Self.plain))".utf8) { out += redactor.piece([byte], of: &stream) }
        out += redactor.last([], of: &stream)
        #expect(String(decoding: out, as: UTF8.self) == "  \n" + Self.joined(Self.bare))
    }

    /// A message that is whole does not wait for the next one, and numbers that somebody sends are no lengths.
    @Test func whatIsWholeDoesNotWait() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, mayBeFramed: true, keepsPieces: true, mayHaveLengths: true)
        let pieces = [
            "    \n", Self.greeting, "5|hello", "1|X", "3|one3|two5|three", "   \n", "hello",
            "17|{\"token\":\"abcde\"}",
        ]
        #expect(
            pieces.map { String(decoding: redactor.piece(Array($0.utf8), of: &stream), as: UTF8.self) }
                == pieces.dropLast() + ["16|{\"token\":\"td_1\"}"])
        #expect(stream.waiting == 0)
        var count = RedactedStream(isBinary: false, keepsPieces: true, mayHaveLengths: true)
        for piece in ["3", "2", "1", "0"] {
            #expect(redactor.piece(Array(piece.utf8), of: &count) == Array(piece.utf8))
        }
    }

    /// A secret that has begun in a text of that form is found when the text goes on behind its length.
    @Test func whatGoesOnIsNoMessage() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, keepsPieces: true, mayHaveLengths: true)
        var out = redactor.piece(Array("9|my token=".utf8), of: &stream)
        out += redactor.piece(Array("abcdef ok".utf8), of: &stream)
        #expect(String(decoding: out, as: UTF8.self) == "9|my token=td_1 ok")
    }

    @Test func aLengthThatIsNeverReached() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, keepsPieces: true, mayHaveLengths: true)
        #expect(redactor.piece(Array("9000|token=abc and".utf8), of: &stream) == [])
        #expect(redactor.last([], of: &stream) == Array("9000|token=td_1 and".utf8))
    }

    /// A long message in many pieces is counted once, and given up when it is too long to wait for.
    @Test func longMessages() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, keepsPieces: true, mayHaveLengths: true)
        let long = String(repeating: "x", count: 400_000)
        let bytes = Array(Self.joined([#"{"token":"abcde","x":"\#(long)"}"#, "end"]).utf8)
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 256) {
            out += redactor.piece(Array(bytes[start..<min(start + 256, bytes.count)]), of: &stream)
        }
        #expect(String(decoding: out, as: UTF8.self) == Self.joined([#"{"token":"td_1","x":"\#(long)"}"#, "end"]))
        var endless = RedactedStream(isBinary: false, keepsPieces: true, mayHaveLengths: true)
        var most = 0
        _ = redactor.piece(Array("16000000|".utf8), of: &endless)
        for _ in 0..<40 {
            _ = redactor.piece(Array(String(repeating: "€ ", count: 1 << 18).utf8), of: &endless)
            most = max(most, endless.waiting)
        }
        #expect(most <= Redactor.longestUnit + (1 << 20))
    }

    /// Pseudonyms that get other numbers may get longer.
    @Test func renumberedLengths() {
        var redactor = Redactor(renumbering: [1: 1234])
        let text = Self.joined(Self.bare)
        let expected = text.replacing("td_1", with: "td_1234").replacing(
            "\(Self.bare[0].utf16.count)|{\"t", with: "\(Self.bare[0].utf16.count + 3)|{\"t"
        ).replacing("\(Self.bare[2].utf16.count)|{\"a", with: "\(Self.bare[2].utf16.count + 3)|{\"a")
        #expect(redactor.text(Array(text.utf8)) == Array(expected.utf8))
        var stream = redactor.stream(of: .text)
        var out: [UInt8] = []
        for byte in Array(text.utf8) { out += redactor.piece([byte], of: &stream) }
        out += redactor.last([], of: &stream)
        #expect(out == Array(expected.utf8))
    }

    /// What stands in the places of a text, for those that put other texts there.
    @Test func placesOfATextForOthers() {
        let text = #"x "5|hello" "5|hell" "# + "\ndata:3|a\ndata:c\n\n" + #"["5|hello"]"#
        let places = LengthPrefixedPlace.all(in: Array(text.utf8))
        #expect(places.map { String(decoding: $0.text, as: UTF8.self) } == ["5|hello", "3|a\nc", "5|hello"])
        #expect(String(decoding: places[1].written(Array("4|ab\nc".utf8)), as: UTF8.self) == "4|ab\ndata:c")
        #expect(
            LengthPrefixedTexts.replacing(Array("1|a2|bb".utf8)) { $0 == [97] ? Array("😀é".utf8) : nil }
                == Array("3|😀é2|bb".utf8))
    }
}
