import Testing
import WiretapeBytes
import WiretapeWire

@Suite struct JSONHashTests {
    private func hash(_ value: JSONValue) -> UInt64 {
        var hash = StableHash()
        value.combineCanonical(into: &hash)
        return hash.value
    }

    /// A value of few words, so that many of them are equal, and its members in any order.
    private func value(_ random: inout SplitMix64, depth: Int = 0) -> JSONValue {
        switch random.next() % (depth < 3 ? 8 : 5) {
        case 0: return .null
        case 1: return .bool(random.next() % 2 == 0)
        case 2: return .number(["1", "1.0", "1e0", "-0", "0", "2"][Int(random.next() % 6)])
        case 3, 4: return .string(["", "a", "1", "é", "e\u{301}"][Int(random.next() % 5)])
        case 5: return .array((0..<random.next() % 3).map { _ in value(&random, depth: depth + 1) })
        default:
            return .object(
                (0..<random.next() % 4).map { _ in
                    .init(["a", "b", "c"][Int(random.next() % 3)], value(&random, depth: depth + 1))
                })
        }
    }

    @Test func equalForEqualCanonicalTextsOnly() {
        var random = SplitMix64(seed: 11)
        // Bytes, since texts are equal in Swift that are spelled differently (é).
        var texts: [UInt64: [UInt8]] = [:], hashes: [[UInt8]: UInt64] = [:], again = 0
        for _ in 0..<20_000 {
            let value = value(&random)
            let text = Array(value.canonicalText.utf8), hash = hash(value)
            if hashes[text] != nil { again += 1 }
            #expect((hashes.updateValue(hash, forKey: text) ?? hash) == hash, "\(value.canonicalText)")
            #expect((texts.updateValue(text, forKey: hash) ?? text) == text, "\(value.canonicalText)")
        }
        #expect(again > 5_000 && hashes.count > 2_000, "\(again) of \(hashes.count) came again")
    }

    @Test func nestingCounts() throws {
        let texts = [
            "[]", "{}", "[[]]", "[{}]", "[[],[]]", "[[[]]]", #"{"a":{}}"#, #"{"a":{},"b":1}"#, #"{"a":{"b":1}}"#,
            #"["a","b"]"#, #"["ab"]"#, #"{"a":"b"}"#, #"{"a":null}"#, #"{"a":[null]}"#, #"["a",["b"]]"#, #"["1"]"#,
            "[1]",
        ]
        let hashes = try texts.map { hash(try JSONValue(parsing: Array($0.utf8).span)) }
        #expect(Set(hashes).count == texts.count)
    }
}
