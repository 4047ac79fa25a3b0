import Testing
import WiretapeBytes

/// Bodies that Python's zlib, brotli and zstandard have encoded.
private let text = Array((String(repeating: "event: tick\ndata: {\"n\":1}\n\n", count: 3) + "häh").utf8)

struct CodedSample: Sendable, CustomTestStringConvertible {
    var codings: String
    var body: [UInt8]
    var testDescription: String { "\(codings), \(body.count) bytes" }

    init(_ codings: String, _ base64: String) {
        self.codings = codings
        body = Base64.decode(base64) ?? []
    }

    static let all = [
        CodedSample(
            "gzip", "H4sIAAAAAAACA0stS80rsVIoyUzO5kpJLEm0UqhWylOyMqzl4kolSyrj8JIMAGNV0w9VAAAA"),
        CodedSample("deflate", "eNpLLUvNK7FSKMlMzuZKSSxJtFKoVspTsjKs5eJKJUsq4/CSDACRuBsi"),
        CodedSample("deflate", "Sy1LzSuxUijJTM7mSkksSbRSqFbKU7IyrOXiSiVLKuPwkgwA"),
        CodedSample("br", "G1QA+B2HsWN6E1wEyeonndYKOmVoWsRtj1SDxPQN60EUEcUoLYIKNxiEdBRhX0I0yP4B"),
        CodedSample("zstd", "KLUv/SRVNQEA+GV2ZW50OiB0aWNrCmRhdGE6IHsibiI6MX0KCmjDpGgBAM/POQbzfR8L"),
        CodedSample(
            "gzip, br", "ixqAH4sIAAAAAAACA0stS80rsVIoyUzO5kpJLEm0UqhWylOyMqzl4kolSyrj8JIMAGNV0w9VAAAAAw=="),
        CodedSample(
            "zstd, gzip",
            "H4sIAAAAAAACA9PYqv9XIdSUkeFHallqXomVQklmcjZXSmJJopVCtVKekpVhLRdXxuElGYwM589bsgEAprQZoi8AAAA="),
        CodedSample(
            "br, deflate, zstd",
            "KLUv/SA84QEAeJyTDmH4Idu+MblKOIbl5Cv1ude4rFIzoo7k9oc0H/nC+9pRRPCohm4Tl7lES4lIYryTyYl/jAAdxxRw"),
    ]
}

@Suite struct ContentDecoderTests {
    private func decode(
        _ codings: String, _ pieces: [[UInt8]], limit: Int = 1 << 20
    ) -> (out: [UInt8], isAtEnd: Bool, fault: ContentDecoder.Fault?) {
        guard let decoder = ContentDecoder(ContentCodings([codings])) else { return ([], false, .unknown(codings)) }
        var out: [UInt8] = []
        for piece in pieces {
            var used = 0
            feeding: while true {
                switch decoder.feed(piece.span, used: &used, limit: limit, into: &out) {
                case .more: break feeding
                case .full: continue
                case .bad(let fault): return (out, false, fault)
                }
            }
            if used != piece.count { return (out, false, .truncated) }
        }
        return (out, decoder.isAtEnd, nil)
    }

    @Test(arguments: CodedSample.all) func everySplitGivesTheSame(_ sample: CodedSample) throws {
        #expect(try ContentDecoder.whole(sample.body, ContentCodings([sample.codings]), limit: 1_000) == text)
        for split in 0...sample.body.count {
            let got = decode(sample.codings, [Array(sample.body[..<split]), Array(sample.body[split...])])
            #expect(got.out == text && got.isAtEnd && got.fault == nil, "split \(split)")
        }
        for limit in [1, 7, 64] {
            let got = decode(sample.codings, sample.body.map { [$0] }, limit: limit)
            #expect(got.out == text && got.isAtEnd && got.fault == nil, "limit \(limit)")
        }
    }

    @Test(arguments: CodedSample.all) func whatIsCutIsNotWhole(_ sample: CodedSample) {
        for end in 1..<sample.body.count {
            let part = Array(sample.body[..<end])
            #expect(throws: ContentDecoder.Fault.truncated, "\(end) bytes") {
                try ContentDecoder.whole(part, ContentCodings([sample.codings]), limit: 1_000)
            }
            #expect(text.starts(with: decode(sample.codings, [part]).out))
        }
    }

    @Test(arguments: CodedSample.all) func damageIsAFaultOrLeavesABoundedBody(_ sample: CodedSample) {
        for at in sample.body.indices {
            for bit in 0..<8 {
                var broken = sample.body
                broken[at] ^= 1 << UInt8(bit)
                let got = decode(sample.codings, [broken])
                #expect(got.out.count <= ContentDecoder.floor)
                // gzip, zlib and this zstd have checksums.
                if got.fault == nil, got.isAtEnd, ["gzip", "zstd"].contains(sample.codings), at > 9 {
                    #expect(got.out == text, "byte \(at) bit \(bit)")
                }
            }
        }
    }

    @Test func aFaultStays() {
        let decoder = ContentDecoder(ContentCodings(["br"]))
        for _ in 0..<3 {
            var used = 0
            var out: [UInt8] = []
            #expect(
                decoder?.feed([0xff, 0xff, 0xff, 0xff].span, used: &used, limit: 10, into: &out)
                    == .bad(.bad(.corrupt)))
        }
    }

    @Test func whatFollowsTheEndIsDamageWhereNothingMay() {
        for sample in CodedSample.all.prefix(5) {
            let twice = decode(sample.codings, [sample.body, sample.body])
            if ["gzip", "zstd"].contains(sample.codings) {
                #expect(twice.out == text + text && twice.fault == nil)
            } else {
                #expect(twice.out == text && twice.fault == .bad(.corrupt))
            }
        }
    }

    @Test func bombsAreRefused() {
        // 40 MiB of zeros: in Brotli, and twice in gzip.
        let brotli = Base64.decode(
            "y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//Bg==")!
        let gzip = Base64.decode(
            "H4sIAAAAAAACA+3cLW4CYRQF0I+ZEaQCiqhCUBL2AKZJa6oRRZOmmjUwCUFhWAB7QLEAXHfQH1VdSEVFVcO0M7vgm3PU01fevNze"
                + "qhlKSXrcNxr/R74+bb+aFwEAAACIXP62SMsyIFwXL/fjCQAAABC7x3Yrq0qB32n3ThwAAAAQveXN6LL6EPiezzJxAAAAQPSufj5u"
                + "qy7gudh1HuQBAAAA0Xs1GAAAAAC1YjAAAAAA6sVgAAAAANSLwQAAAAComfdFmpRdQL+YDgcBAAAAzsUm+3w6nELIkz9AtttPVZ8A"
                + "AA==")!
        // Zstandard's blocks of one byte repeated.
        var zstd: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x50]
        for i in 0..<320 {
            let header: UInt32 = 1 << 1 | 128 << 13 | (i == 319 ? 1 : 0)
            zstd += [UInt8(truncatingIfNeeded: header), UInt8(truncatingIfNeeded: header >> 8), UInt8(header >> 16), 0]
        }
        for (codings, body) in [("br", brotli), ("gzip, gzip", gzip), ("zstd", zstd)] {
            #expect(throws: ContentDecoder.Fault.tooMuch) {
                try ContentDecoder.whole(body, ContentCodings([codings]), limit: 64 << 20)
            }
            #expect(throws: ContentDecoder.Fault.tooLong(limit: 1 << 20)) {
                try ContentDecoder.whole(body, ContentCodings([codings]), limit: 1 << 20)
            }
            let streamed = decode(codings, [body])
            #expect(streamed.fault == .tooMuch && streamed.out.count <= ContentDecoder.floor + 1 << 20)
        }
    }

    @Test func windowsAreBounded() {
        let wide = Base64.decode("KLUv/QBwUQAAeHh4eHh4eHh4eA==")!
        #expect(throws: ContentDecoder.Fault.bad(.windowTooLarge)) {
            try ContentDecoder.whole(wide, ContentCodings(["zstd"]), limit: 100)
        }
    }

    @Test func listsOfCodings() {
        #expect(ContentCodings(["GZip,  BR", "", "identity, x-gzip"]).names == ["gzip", "br", "gzip"])
        #expect(ContentCodings(["identity", "none"]).isEmpty && ContentCodings([]).isEmpty)
        #expect(ContentCodings(["br", " zstd "]).known == [.brotli, .zstd])
        #expect(ContentCodings(["gzip, snappy"]).known == nil)
        #expect(ContentCodings(["gzip,gzip,gzip,gzip,gzip"]).known == nil)
        #expect(ContentDecoder(ContentCodings(["identity"])) == nil)
        #expect(ContentDecoder(ContentCodings(["compress"])) == nil)
    }

    @Test func anEmptyBodyHasNoCoding() throws {
        #expect(try ContentDecoder.whole([], ContentCodings(["br"]), limit: 10).isEmpty)
        #expect(try ContentDecoder.whole([], ContentCodings(["snappy"]), limit: 10).isEmpty)
        #expect(throws: ContentDecoder.Fault.unknown("snappy")) {
            try ContentDecoder.whole([1], ContentCodings(["Snappy"]), limit: 10)
        }
    }
}
