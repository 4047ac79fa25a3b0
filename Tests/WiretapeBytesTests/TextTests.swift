import Testing
import WiretapeBytes

// A span may not appear within #expect.
private func encode(_ bytes: [UInt8]) -> String { Base64.encode(bytes.span) }
private func sha1(_ bytes: [UInt8]) -> [UInt8] { SHA1.hash(bytes.span) }
private func sha256(_ bytes: [UInt8]) -> [UInt8] { SHA256.hash(bytes.span) }
private func find(_ byte: UInt8, _ bytes: [UInt8], from: Int = 0) -> Int? {
    firstIndex(of: byte, in: bytes.span, from: from)
}

/// Bytes that meet every branch: ASCII, escapes, sequences of each length, and their broken forms.
private func sample(_ seed: UInt64, valid: Bool) -> [UInt8] {
    var state = seed
    func next() -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33)
    }
    let good = [
        "plain text", "\"", "\\", "\n", "\u{1f}", "\u{7f}", "é", "€", "😀", "x", "{\"a\":1}", "\u{0}", "\u{10ffff}",
    ]
    let bad: [[UInt8]] = [
        [0x80], [0xc0, 0x80], [0xc3], [0xe2, 0x82], [0xe0, 0x9f, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
        [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xff],
    ]
    var bytes: [UInt8] = []
    for _ in 0..<next() % 30 { bytes += Array(good[next() % good.count].utf8) }
    if !valid {
        bytes += bad[next() % bad.count]
        for _ in 0..<next() % 5 { bytes += Array(good[next() % good.count].utf8) }
    }
    return bytes
}

struct TextTests {
    @Test("Every byte at every place of a text is told from what is printed of ASCII")
    func printableASCII() {
        for length in 0...20 {
            for place in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: UInt8(ascii: "~"), count: length)
                    text[place] = byte
                    let found = isPrintableASCII(text.span)
                    #expect(found == (0x20...0x7e).contains(byte), "byte \(byte) at \(place) of \(length)")
                }
            }
            let blanks = [UInt8](repeating: 0x20, count: length)
            let all = isPrintableASCII(blanks.span)
            #expect(all)
        }
    }

    @Test func validityAgreesWithTheStandardLibrary() {
        for seed in 0..<4000 as Range<UInt64> {
            let bytes = sample(seed, valid: seed % 2 == 0)
            let valid = isValidUTF8(bytes.span)
            #expect(valid == (String(validating: bytes, as: UTF8.self) != nil), "seed \(seed)")
            #expect(valid == (seed % 2 == 0))
        }
    }

    /// The slow way to write a JSON string.
    private func reference(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x22]
        for byte in bytes {
            switch byte {
            case 0x22: out += Array(#"\""#.utf8)
            case 0x5c: out += Array(#"\\"#.utf8)
            case 0x0a: out += Array(#"\n"#.utf8)
            case 0x0d: out += Array(#"\r"#.utf8)
            case 0x09: out += Array(#"\t"#.utf8)
            case 0..<0x20: out += Array(("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
            default: out.append(byte)
            }
        }
        return out + [0x22]
    }

    @Test func stringsAreEscapedOrRefused() {
        for seed in 0..<4000 as Range<UInt64> {
            let bytes = sample(seed, valid: seed % 2 == 0)
            var out: [UInt8] = [1, 2, 3]
            let valid = JSONEscape.appendString(bytes.span, into: &out)
            #expect(valid == (seed % 2 == 0))
            #expect(out == [1, 2, 3] + (valid ? reference(bytes) : []), "seed \(seed)")
        }
    }

    @Test(arguments: [4090, 4095, 4096, 4097, 8191, 20_000]) func blocksMayEndAnywhere(count: Int) {
        for (unit, valid) in [("\u{1}", true), ("€", true), ("a\"", true), ("😀é", true)] {
            let bytes = Array("x".utf8) + Array(String(repeating: unit, count: count / unit.utf8.count).utf8)
            var out: [UInt8] = []
            let got = JSONEscape.appendString(bytes.span, into: &out)
            #expect(got == valid)
            #expect(out == reference(bytes))
            out = []
            let cut = bytes + [0xe2]
            let taken = JSONEscape.appendString(cut.span, into: &out)
            #expect(!taken)
            #expect(out.isEmpty)
        }
    }

    @Test func runsEndWhereAnEscapeBegins() {
        for seed in 0..<2000 as Range<UInt64> {
            let bytes = sample(seed, valid: seed % 2 == 0)
            for from in [0, bytes.count / 3, bytes.count] {
                let run = bytes[from...].prefix { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5c }.count
                let got = JSONEscape.plainRun(bytes.span, from: from)
                #expect(got == run, "seed \(seed)")
            }
        }
    }

    @Test func wholeStringsToo() {
        var out: [UInt8] = []
        JSONEscape.appendString("a\"b\u{2}", into: &out)
        JSONEscape.appendString("", into: &out)
        #expect(out == Array(#""a\"b\u0002""""#.utf8))
    }

    @Test func base64IsTheStandardOne() {
        let pairs = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
        for (text, code) in pairs {
            #expect(encode(Array(text.utf8)) == code)
            #expect(Base64.decode(code) == Array(text.utf8))
            #expect(Base64.decode(code.filter { $0 != "=" }) == Array(text.utf8))
        }
        let all = (0...255).map { UInt8($0) }
        for count in 0..<256 { #expect(Base64.decode(encode(Array(all[..<count]))) == Array(all[..<count])) }
        for wrong in ["Z", "Zg=", "Zh==", "Zm9v ", "Zm-v", "====", "Zg==Zg==", "Zm9vY", "=", "Zm9=v", "é"] {
            #expect(Base64.decode(wrong) == nil, "\(wrong)")
        }
    }

    @Test func bytesAreFound() {
        let bytes = Array("hello".utf8)
        #expect(find(UInt8(ascii: "l"), bytes) == 2)
        #expect(find(UInt8(ascii: "l"), bytes, from: 3) == 3)
        #expect(find(UInt8(ascii: "l"), bytes, from: 4) == nil)
        #expect(find(UInt8(ascii: "h"), bytes, from: 5) == nil)
        #expect(find(UInt8(ascii: "h"), bytes, from: -1) == nil)
        #expect(find(0, []) == nil)
    }

    @Test func hashesOfTheStandards() {
        func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        #expect(hex(sha1(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(hex(sha1([])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(
            hex(sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func decimalsOfEveryLength() {
        var values: [UInt64] = [0, .max, .max - 1]
        var power: UInt64 = 1
        for _ in 0..<19 {
            power *= 10
            values += [power - 1, power, power + 1]
        }
        for value in values {
            var out: [UInt8] = []
            out.append(decimal: value)
            #expect(String(decoding: out, as: UTF8.self) == String(value))
        }
    }
}
