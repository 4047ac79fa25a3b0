import Testing
import WiretapeBytes
import WiretapeWire

@Suite struct MessagePackTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).compactMap(hexDigit)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func value(_ hex: String) throws -> JSONValue {
        let bytes = bytes(hex)
        var at = 0
        let value = try MessagePack.value(bytes.span, &at)
        #expect(at == bytes.count)
        var skipped = 0
        try MessagePack.skip(bytes.span, &skipped)
        #expect(skipped == at)
        return value
    }

    @Test(arguments: [
        ("c0", "null"), ("c2", "false"), ("c3", "true"), ("00", "0"), ("7f", "127"), ("ff", "-1"), ("e0", "-32"),
        ("cc80", "128"), ("cdffff", "65535"), ("ceffffffff", "4294967295"),
        ("cfffffffffffffffff", "18446744073709551615"), ("d080", "-128"), ("d18000", "-32768"),
        ("d280000000", "-2147483648"), ("d38000000000000000", "-9223372036854775808"),
        ("ca42280000", "42.0"), ("cb3ff8000000000000", "1.5"), ("ca3dcccccd", "0.10000000149011612"),
        ("cb3fb999999999999a", "0.1"), ("cb8000000000000000", "-0.0"),
        ("cb7fefffffffffffff", "1.7976931348623157e+308"),
        ("cb7ff8000000000000", #"{"$float":"NaN"}"#), ("ca7f800000", #"{"$float":"Infinity"}"#),
        ("cbfff0000000000000", #"{"$float":"-Infinity"}"#),
        ("a0", #""""#), ("a568656c6c6f", #""hello""#), ("d90568656c6c6f", #""hello""#), ("da0002c3a9", #""é""#),
        ("db0000000161", #""a""#), ("a2c328", #"{"$text":"c328"}"#),
        ("c400", #"{"$bin":""}"#), ("c4020001", #"{"$bin":"AAE="}"#), ("c50001ff", #"{"$bin":"/w=="}"#),
        ("c600000001ff", #"{"$bin":"/w=="}"#),
        ("90", "[]"), ("93010203", "[1,2,3]"), ("dc000101", "[1]"), ("dd0000000101", "[1]"), ("91919190", "[[[[]]]]"),
        ("80", "{}"), ("82a16101a162c0", #"{"a":1,"b":null}"#), ("de0001a16101", #"{"a":1}"#),
        ("df00000001a16101", #"{"a":1}"#), ("82a16101a16102", #"{"a":1,"a":2}"#),
        ("820201a16103", #"{"$map":[["a",3],[2,1]]}"#), ("8202c00100", #"{"$map":[[1,0],[2,null]]}"#),
        ("d40100", #"{"$ext":[1,"AA=="]}"#), ("d5800001", #"{"$ext":[-128,"AAE="]}"#),
        ("d6ff00000000", #"{"$time":"1970-01-01T00:00:00Z"}"#), ("d6ff1aa28e00", #"{"$time":"1984-02-29T00:00:00Z"}"#),
        ("d6ffffffffff", #"{"$time":"2106-02-07T06:28:15Z"}"#),
        ("d7ff77359400386d4380", #"{"$time":"2000-01-01T00:00:00.5Z"}"#),
        ("c70cff3b9ac9ffffffffffffffffff", #"{"$time":"1969-12-31T23:59:59.999999999Z"}"#),
        ("c70cff00000000fffffff1886e0900", #"{"$time":"0001-01-01T00:00:00Z"}"#),
        ("c70cff000000000000003afff4417f", #"{"$time":"9999-12-31T23:59:59Z"}"#),
        ("c70cff000000000000003afff44180", #"{"$ext":[-1,"AAAAAAAAADr/9EGA"]}"#),
        ("c70cff3b9aca000000000000000000", #"{"$ext":[-1,"O5rKAAAAAAAAAAAA"]}"#),
        ("c703ff000000", #"{"$ext":[-1,"AAAA"]}"#), ("c80002050102", #"{"$ext":[5,"AQI="]}"#),
        ("c90000000105ff", #"{"$ext":[5,"/w=="]}"#),
        (
            "d8" + "05" + String(repeating: "00", count: 16),
            #"{"$ext":[5,"AAAAAAAAAAAAAAAAAAAAAA=="]}"#
        ),
        // A map that looks like one of ours.
        ("81a42462696ea441414d3d", #"{"$$bin":"AAM="}"#), ("81a5242462696ea0", #"{"$$$bin":""}"#),
        ("81a52474797065a0", #"{"$type":""}"#), ("82a42462696ea0a16101", #"{"$bin":"","a":1}"#),
    ])
    func values(_ hex: String, _ text: String) throws { #expect(try value(hex).text == text) }

    @Test(arguments: [
        [
            "2a", "cc2a", "cd002a", "ce0000002a", "cf000000000000002a", "d02a", "d1002a", "d20000002a",
            "d3000000000000002a", "ca42280000", "cb4045000000000000",
        ],
        ["cb7ff8000000000000", "cb7ff8000000000001", "ca7fc00000", "cafff00001"],
        ["cb0000000000000000", "cb8000000000000000", "00"],
        ["cb4376345785d8a000", "cf016345785d8a0000", "d3016345785d8a0000"],
        ["cb43e0000000000000", "cf8000000000000000"], ["cbc3e0000000000000", "d38000000000000000"],
        ["d6ff386d4380", "d7ff00000000386d4380", "c70cff0000000000000000386d4380"],
        ["82a16101a16202", "82a16202a16101", "de0002a16202d90161d001"], ["820102a16103", "82a161030102"],
    ])
    func equalMeanings(_ spellings: [String]) throws {
        let keys = try Set(spellings.map { try value($0).canonicalText })
        #expect(keys.count == 1, "\(keys)")
    }

    /// No two of these mean the same.
    @Test func differentMeanings() throws {
        let all = [
            "c0", "c2", "00", "a0", "a130", "c400", "c40130", "90", "80", "d60000000000", "d6ff00000000", "a2c328",
            "81a42462696ea0", "81a42462696ea2c3a9", "8100c0", "81a130c0", "ca3dcccccd", "cb3fb999999999999a",
            "cb7ff8000000000000", "ca7f800000", "caff800000", "a34e614e", "cfffffffffffffffff", "ff",
            "cf7fffffffffffffff", "81a52474657874a463333238", "9100", "81a42465787490",
        ]
        #expect(try Set(all.map { try value($0).canonicalText }).count == all.count)
    }

    @Test(arguments: [
        "", "c1", "91", "9201c1", "a1", "a2c3", "c4", "c402ff", "cd00", "cb00000000", "d4", "d401", "d8ff00", "81",
        "81a161",
        "dcffff", "ddffffffff", "dfffffffff00", "dbffffffff", "c6ffffffff", "c9ffffffff01",
    ])
    func broken(_ hex: String) {
        let bytes = bytes(hex)
        var at = 0
        #expect(throws: MessagePackError.self) { try MessagePack.value(bytes.span, &at) }
        at = 0
        #expect(throws: MessagePackError.self) { try MessagePack.skip(bytes.span, &at) }
    }

    @Test func nestingIsLimited() throws {
        let deep = [UInt8](repeating: 0x91, count: MessagePack.deepest - 1) + [0xc0]
        var at = 0
        _ = try MessagePack.value(deep.span, &at)
        at = 0
        let deeper = [UInt8](repeating: 0x91, count: 1_000_000) + [0xc0]
        #expect(throws: MessagePackError(reason: "nested too deeply", offset: MessagePack.deepest)) {
            try MessagePack.value(deeper.span, &at)
        }
        at = 0
        try MessagePack.skip(deeper.span, &at)
        #expect(at == deeper.count)
    }

    @Test func valuesAreCounted() {
        let many: [UInt8] = [0xdd, 0x00, 0x10, 0x00, 0x00] + [UInt8](repeating: 0xc0, count: 1 << 20)
        var at = 0
        #expect(throws: MessagePackError(reason: "more than 1048576 values", offset: many.count - 1)) {
            try MessagePack.value(many.span, &at)
        }
    }

    @Test(arguments: [0, 1, 31, 32, 255, 256, 65_535, 65_536])
    func textsReadBack(_ count: Int) throws {
        let text = String(repeating: "x", count: count)
        var out: [UInt8] = []
        MessagePack.write(text, into: &out)
        var at = 0
        #expect(try MessagePack.value(out.span, &at) == .string(text))
        #expect(at == out.count)
        #expect(out.count - count == (count < 32 ? 1 : count < 256 ? 2 : count < 65_536 ? 3 : 5))
    }

    @Test(arguments: [0, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, UInt64.max])
    func numbersReadBack(_ number: UInt64) throws {
        var out: [UInt8] = []
        MessagePack.write(number, into: &out)
        var at = 0
        #expect(try MessagePack.value(out.span, &at) == .number(number))
        #expect(at == out.count)
    }

    /// A map of one pair whose key begins with `$`: only what looks like a tag is told apart by one more.
    @Test(arguments: ["$", "$$", "$x", "$$x", "$$$x", "$bin", "$$bin", "$$$bin", "$mapped", "$$mapped", "x$"])
    func keysOfDollarsReadBack(_ key: String) throws {
        var wire: [UInt8] = []
        MessagePack.writeMap(of: 1, into: &wire)
        MessagePack.write(key, into: &wire)
        wire.append(0)
        var at = 0
        let value = try MessagePack.value(wire.span, &at)
        var again: [UInt8] = []
        #expect(MessagePack.write(value, into: &again))
        #expect(again == wire, "\(value.text)")
    }

    @Test(arguments: [0, 15, 16, 65_535, 65_536])
    func arraysReadBack(_ count: Int) throws {
        var out: [UInt8] = []
        MessagePack.writeArray(of: count, into: &out)
        out += [UInt8](repeating: 0x01, count: count)
        var at = 0
        #expect(try MessagePack.value(out.span, &at).array?.count == count)
        #expect(at == out.count)
    }

    /// A seeded mutation of every kind of value: read or refused, never a trap, and skipping agrees with reading.
    @Test func damage() throws {
        let seed = bytes(
            "dc0010" + "2a" + "ff" + "cb3fb999999999999a" + "a568656c6c6f" + "c4020001" + "d6ff1aa28e00"
                + "82a16101a162c0"
                + "93010203" + "ce0000002a" + "d0fe" + "da0002c3a9" + "c70cff3b9ac9ffffffffffffffffff" + "8102c0" + "c3"
                + "de0001a16101" + "c80002050102")
        var random = SplitMix64(seed: 7)
        var read = 0
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes.removeLast(random.below(3) == 0 ? random.below(bytes.count) : 0)
            var at = 0
            var skipped = 0
            let value = try? MessagePack.value(bytes.span, &at)
            let didSkip = (try? MessagePack.skip(bytes.span, &skipped)) != nil
            #expect((value != nil) == didSkip)
            if let value {
                read += 1
                #expect(at == skipped)
                _ = value.canonicalText
            }
        }
        #expect(read > 2_000)
    }
}
