import Testing
import WiretapeBytes

/// What `input` inflates to when it comes in the given pieces, with at most `limit` bytes out per call.
private func inflate(
    _ format: Inflater.Format, _ pieces: [[UInt8]], limit: Int = 1 << 20
) -> (out: [UInt8], ends: Int, fault: InflateFault?) {
    var inflater = Inflater(format)
    var out: [UInt8] = []
    var ends = 0
    for piece in pieces {
        var used = 0
        feeding: while true {
            switch inflater.feed(piece.span, used: &used, limit: limit, into: &out) {
            case .more: break feeding
            case .full: continue
            case .end:
                ends += 1
                if used == piece.count { break feeding }
            case .bad(let fault): return (out, ends, fault)
            }
        }
    }
    return (out, ends, nil)
}

private func members(_ texts: [String]) -> [UInt8] {
    var compressor = MemberCompressor()
    var out: [UInt8] = []
    for text in texts {
        let info = MemberInfo(events: 1, firstTime: 2, firstEvent: 3, opens: 4, firstConnection: 5)
        compressor.append(Array(text.utf8).span, info: info, level: 6, into: &out)
    }
    return out
}

struct InflaterTests {
    @Test func membersInflateWholeAndInEverySplit() {
        let texts = [String(repeating: "hello ", count: 40), "", "second"]
        let file = members(texts)
        let whole = Array(texts.joined().utf8)
        for split in 0...file.count {
            let got = inflate(.gzip, [Array(file[..<split]), Array(file[split...])])
            #expect(got.out == whole && got.ends == 3 && got.fault == nil, "split \(split)")
        }
        let single = inflate(.gzip, file.map { [$0] }, limit: 1)
        #expect(single.out == whole && single.ends == 3)
    }

    @Test func outputNeverExceedsTheLimitOfACall() {
        var compressor = MemberCompressor()
        var bomb: [UInt8] = []
        let zeros = [UInt8](repeating: 0, count: 8 << 20)
        let info = MemberInfo(events: 0, firstTime: 0, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append(zeros.span, info: info, level: 9, into: &bomb)
        #expect(bomb.count < 16 << 10)
        for limit in [1, 1000, 65536, 65537, 300_000] {
            var inflater = Inflater(.gzip)
            var out: [UInt8] = []
            var used = 0
            let outcome = inflater.feed(bomb.span, used: &used, limit: limit, into: &out)
            #expect(outcome == .full)
            #expect(out.count == limit)
        }
    }

    @Test func everyByteOfAMemberIsChecked() {
        let text = Array(String(repeating: "checked ", count: 20).utf8)
        let file = members([String(decoding: text, as: UTF8.self)])
        // The flags, times and system byte of the header and the extra field are not covered by the checksum.
        for at in file.indices where at < 3 || at >= MemberInfo.headerSize {
            var broken = file
            broken[at] ^= 0x40
            let got = inflate(.gzip, [broken])
            // Only the unused bits behind the last block mean nothing.
            let unused = at == file.count - 9 && got.out == text
            #expect(got.fault == .corrupt || got.ends == 0 || unused, "byte \(at)")
        }
    }

    @Test func aFaultStaysUntilReset() {
        var inflater = Inflater(.gzip)
        var out: [UInt8] = []
        var used = 0
        let got1 = inflater.feed([1, 2, 3, 4].span, used: &used, limit: 100, into: &out)
        #expect(got1 == .bad(.corrupt))
        used = 0
        let good = members(["good"])
        let got2 = inflater.feed(good.span, used: &used, limit: 100, into: &out)
        #expect(got2 == .bad(.corrupt))
        inflater.reset()
        let got3 = inflater.feed(good.span, used: &used, limit: 100, into: &out)
        #expect(got3 == .end)
        #expect(out == Array("good".utf8))
    }

    @Test func zlibStreamsAreRead() {
        // python3: zlib.compress(b"wiretape wiretape wiretape", 9)
        let stream: [UInt8] = [
            0x78, 0xda, 0x2b, 0xcf, 0x2c, 0x4a, 0x2d, 0x49, 0x2c, 0x48, 0x55, 0x28, 0x47, 0x67, 0x00, 0x00, 0x8d, 0x11,
            0x0a, 0x64,
        ]
        let got = inflate(.zlib, [stream])
        #expect(got.out == Array("wiretape wiretape wiretape".utf8) && got.ends == 1)
        let wantsDictionary: [UInt8] = [0x78, 0xbb, 0x00, 0x00, 0x00, 0x01]
        #expect(inflate(.zlib, [wantsDictionary]).fault == .needsDictionary)
    }

    @Test(arguments: 8...15) func rawStreamsGoBothWaysWithAWindow(bits: Int) {
        var deflater = Deflater(windowBits: bits, level: 6)
        var inflater = Inflater(.raw(windowBits: max(9, bits)))
        var seed: UInt64 = 7
        for round in 0..<20 {
            var message: [UInt8] = []
            for _ in 0..<(round * 97) {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1
                message.append(UInt8(ascii: "a") + UInt8(seed >> 60))
            }
            var wire: [UInt8] = []
            let done5 = deflater.append(message.span, flush: .message, into: &wire)
            #expect(done5)
            if round > 0 { #expect(wire.suffix(4) != [0, 0, 0xff, 0xff]) }
            if round % 5 == 4 { deflater.reset() }
            wire += [0, 0, 0xff, 0xff]
            var out: [UInt8] = []
            var used = 0
            let got4 = inflater.feed(wire.span, used: &used, limit: 1 << 20, into: &out)
            #expect(got4 == .more)
            #expect(out == message && used == wire.count)
        }
    }

    @Test func aFinalBlockLeavesTheWindowOfARawStream() {
        // RFC 7692, 7.2.3.4 and 7.2.3.5: "Hello" twice with context takeover, then with BFINAL set.
        var inflater = Inflater(.raw(windowBits: 15))
        var out: [UInt8] = []
        for frame in [
            [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
            [0xf2, 0x00, 0x11, 0x00, 0x00],
        ] as [[UInt8]] {
            let wire = frame + [0, 0, 0xff, 0xff]
            var used = 0
            var outcome = inflater.feed(wire.span, used: &used, limit: 100, into: &out)
            if outcome == .end { outcome = inflater.feed(wire.span, used: &used, limit: 100, into: &out) }
            #expect(outcome == .more)
        }
        #expect(out == Array("HelloHelloHello".utf8))
    }

    @Test func aFinishedStreamTakesNothingMore() {
        var deflater = Deflater()
        var out: [UInt8] = []
        let done6 = deflater.append([1, 2, 3].span, flush: .finish, into: &out)
        #expect(done6)
        #expect(inflate(.raw(windowBits: 15), [out]).out == [1, 2, 3])
        let done7 = deflater.append([4].span, flush: .sync, into: &out)
        #expect(!done7)
        deflater.reset()
        let done8 = deflater.append([4].span, flush: .sync, into: &out)
        #expect(done8)
    }
}
