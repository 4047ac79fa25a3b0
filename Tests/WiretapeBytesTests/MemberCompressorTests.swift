import Testing
import WiretapeBytes

private func info(_ bytes: [UInt8], _ at: Int) -> MemberInfo? { MemberInfo(header: bytes.span, at: at) }

struct MemberCompressorTests {
    @Test func levelsSwitchAndAllInflate() {
        var compressor = MemberCompressor()
        let lines = Array(String(repeating: #"{"t":1,"e":"ping"}"# + "\n", count: 9000).utf8)
        var sizes: [Int: Int] = [:]
        for level in [6, 1, 0, 12, 0, 6] {
            var out: [UInt8] = [9, 9]
            let made = MemberInfo(events: 9000, firstTime: .max, firstEvent: 77, opens: 3, firstConnection: 4)
            compressor.append(lines.span, info: made, level: level, into: &out)
            #expect(sizes[level] == nil || sizes[level] == out.count)
            sizes[level] = out.count
            var wanted = made
            wanted.size = UInt32(out.count - 2)
            #expect(info(out, 2) == wanted)
            var inflater = Inflater(.gzip)
            var back: [UInt8] = []
            var used = 2
            let got1 = inflater.feed(out.span, used: &used, limit: 1 << 20, into: &back)
            #expect(got1 == .end)
            #expect(back == lines && used == out.count)
        }
        #expect(sizes[0]! > lines.count && sizes[6]! < sizes[1]! && sizes[1]! < lines.count / 20)
    }

    @Test func theFieldIsFoundOnlyWhereItIs() {
        var compressor = MemberCompressor()
        var out: [UInt8] = []
        let made = MemberInfo(events: 1, firstTime: 2, firstEvent: 3, opens: 0, firstConnection: 0)
        let nothing: [UInt8] = []
        compressor.append(nothing.span, info: made, level: 6, into: &out)
        for count in 0..<MemberInfo.headerSize {
            #expect(info(Array(out.prefix(count)), 0) == nil)
        }
        #expect(info(out, -1) == nil)
        #expect(info(out, out.count) == nil)
        // Behind a field of another writer.
        var other = Array(out[..<10]) + [41, 0, 1, 2, 1, 0, 99]
        other += out[12...]
        #expect(info(other, 0)?.firstEvent == 3)
        other[10] = 40
        #expect(info(other, 0) == nil)
        #expect(info([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0], 0) == nil)
    }
}
