import Testing
import WiretapeBytes
import WiretapeRedaction

/// Made-up input: bounded tables, linear time, no traps. Nothing is shown because there was too much of it.
@Suite struct RedactionHostilityTests {
    @Test func aFullTableStillRedacts() {
        var redactor = Redactor()
        for i in 0..<5000 { _ = redactor.text(Array("{\"token\":\"secret-number-\(i)\"}".utf8)) }
        #expect(redactor.secrets == 4096)
        #expect(redactor.unnumbered == 904)
        let text = redactor.text(Array(#"{"token":"one-more"}"#.utf8)) ?? []
        #expect(String(decoding: text, as: UTF8.self) == #"{"token":"td_0"}"#)
    }

    /// Secrets that all end alike make every position of a text like them a candidate.
    @Test func whatCannotBeLookedAtInTimeIsNotShown() {
        var redactor = Redactor()
        for i in 0..<2000 {
            _ = redactor.text(
                Array("{\"token\":\"\(String(repeating: "a", count: 100 + i % 50))\(i)bbbbbbbbbbbb\"}".utf8))
        }
        let text = Array("x \(String(repeating: "bbbbbbbbbbbb", count: 20_000))".utf8)
        let out = redactor.text(text)
        #expect(out == nil || out == Array("td_0".utf8))
    }

    @Test(arguments: [
        String(repeating: "\"\\\"", count: 100_000), String(repeating: "{\"a\":", count: 50_000),
        String(repeating: "[", count: 200_000), String(repeating: "eyJ.", count: 100_000),
        String(repeating: "token=", count: 50_000), String(repeating: "\"token\":", count: 50_000),
        String(repeating: "://a:", count: 50_000), String(repeating: "-----BEGIN ", count: 50_000),
        String(repeating: "\"\\\"\n", count: 100_000), String(repeating: "Bearer ", count: 50_000),
        #"{"type":"connection_init","payload":"# + String(repeating: "[", count: 100_000),
        String(repeating: "name=\"token\"\r\n", count: 30_000),
    ]) func longNonsenseEnds(text: String) {
        var redactor = Redactor()
        _ = redactor.text(Array(text.utf8))
        var stream = RedactedStream(isBinary: false)
        _ = redactor.piece(Array(text.utf8), of: &stream)
        _ = redactor.last([], of: &stream)
        _ = redactor.payload(Array(text.utf8), isBinary: true)
    }

    /// What looks like one answer to a handshake behind the other costs no stack, and no time for each.
    @Test func handshakesWithoutEnd() {
        let bytes = Array(String(repeating: "{\u{1e}", count: 500_000).utf8) + [0x91, 0xff, 0x91]
        var redactor = Redactor()
        _ = redactor.payload(bytes, isBinary: true)
        _ = redactor.pack(bytes)
    }

    @Test func randomBytesNeverTrap() {
        var random = SplitMix64(seed: 15)
        let words: [[UInt8]] = [
            "\"token\"", ":", "\"", "=", "eyJ", ".", "Bearer ", "{", "}", "\\", "\n", "password", "&",
        ]
        .map { Array($0.utf8) }
        for _ in 0..<3000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int(random.next() % 40) {
                if random.next() % 3 == 0 {
                    bytes.append(UInt8(truncatingIfNeeded: random.next()))
                } else {
                    bytes += words[Int(random.next() % UInt64(words.count))]
                }
            }
            var redactor = Redactor()
            _ = redactor.text(bytes)
            _ = redactor.payload(bytes, isBinary: true)
            _ = redactor.target(String(decoding: bytes, as: UTF8.self))
            _ = redactor.rawLines(bytes)
            var stream = RedactedStream(isBinary: random.next() % 2 == 0)
            for byte in bytes { _ = redactor.piece([byte], of: &stream) }
            _ = redactor.last([], of: &stream)
        }
    }

    /// Each of these took minutes, or for ever.
    @Test(arguments: [
        String(repeating: "a=", count: 40) + "%" + String(repeating: "25", count: 14) + "41xxxxxxxx",
        String(repeating: "a=", count: 100_000) + "%41aaaaaaaa", String(repeating: "code=", count: 60_000),
        String(repeating: "sk-", count: 100_000), String(repeating: "eyJhIjoxfQ.e30./", count: 20_000),
        String(repeating: #"{"token":"#, count: 30_000), String(repeating: "a[]=", count: 60_000),
    ])
    func itemsWithinItemsTakeNoTime(_ text: String) {
        var redactor = Redactor()
        _ = redactor.text(Array(text.utf8))
        var stream = RedactedStream(isBinary: false)
        _ = redactor.piece(Array(text.utf8), of: &stream)
        _ = redactor.last([], of: &stream)
    }
}
