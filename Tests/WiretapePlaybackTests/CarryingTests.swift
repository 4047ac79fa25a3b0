import Testing
import WiretapeBytes
import WiretapeFaults
import WiretapePlayback
import WiretapeRuntime
import WiretapeWire

/// What is done to bytes on their way.
@Suite struct CarryingTests {
    /// Takes what leaves until nothing waits: the times and the bytes.
    private func drain(_ pacer: inout WritePacer, from start: WireInstant) -> [(at: UInt64, bytes: [UInt8])] {
        var now = start
        var taken: [(at: UInt64, bytes: [UInt8])] = []
        while let next = pacer.nextTake(after: now) {
            now = max(now, next)
            for piece in pacer.take(at: now) { taken.append((now.since(start), piece)) }
        }
        return taken
    }

    @Test(arguments: [100, 999, 20_000, 1_000_000] as [UInt64])
    func throttlingIsExactOverASecond(rate: UInt64) {
        var pacer = WritePacer()
        let start = WireInstant(nanoseconds: 7_000_000_123)
        pacer.set(.rate(rate), at: start)
        let payload = (0..<Int(rate) * 3).map { UInt8(truncatingIfNeeded: $0) }
        pacer.append(payload, at: start)
        let taken = drain(&pacer, from: start)
        #expect(taken.flatMap(\.bytes) == payload)
        for second in 0..<3 as Range<UInt64> {
            let inSecond = taken.filter { $0.at > second * 1_000_000_000 && $0.at <= (second + 1) * 1_000_000_000 }
            let count = inSecond.reduce(0) { $0 + $1.bytes.count }
            #expect(abs(count - Int(rate)) * 20 <= Int(rate), "second \(second): \(count) of \(rate)")
        }
    }

    @Test func nothingIsSavedUpWhileNothingWaits() {
        var pacer = WritePacer()
        pacer.set(.rate(1_000), at: .zero)
        let later = WireInstant(nanoseconds: 60_000_000_000)
        pacer.append(Array(repeating: 1, count: 100), at: later)
        #expect(pacer.take(at: later).isEmpty)
        #expect(drain(&pacer, from: later).last?.at ?? 0 >= 100_000_000)
    }

    @Test func slicesHoldsAndStops() {
        var pacer = WritePacer()
        pacer.set(.slices(4, every: 5_000_000), at: .zero)
        pacer.append(Array("abcdefghij".utf8), at: .zero)
        let taken = drain(&pacer, from: .zero)
        #expect(taken.map { String(decoding: $0.bytes, as: UTF8.self) } == ["abcd", "efgh", "ij"])
        #expect(taken.map(\.at) == [0, 5_000_000, 10_000_000])
        var queue = OutboundQueue()
        let later = WireInstant(nanoseconds: 1_000)
        queue.hold(until: later)
        queue.add([1], at: .zero)
        queue.hold(until: .zero)
        queue.add([2], at: .zero)
        #expect(queue.take(at: .zero) == .nothing && queue.nextWake(after: .zero) == later)
        #expect(queue.take(at: later) == .writes([[1, 2]]) && queue.isIdle(at: later))
        queue.pacer.isStopped = true
        queue.add([3], at: later)
        #expect(queue.take(at: WireInstant(nanoseconds: .max)) == .nothing && queue.nextWake(after: later) == nil)
        queue.pacer.isStopped = false
        #expect(queue.take(at: later) == .writes([[3]]))
    }

    @Test func corruptionDoesWhatItSays() throws {
        let text = Array(#"{"a":[1,2,{"b":"c"}]}"#.utf8)
        var draw = SplitMix64(seed: 1)
        var bits = text
        Corruption.bits(1).apply(to: &bits, &draw)
        #expect(zip(bits, text).map { ($0 ^ $1).nonzeroBitCount }.reduce(0, +) == 1)
        var bytes = text
        Corruption.bytes(1).apply(to: &bytes, &draw)
        #expect(zip(bytes, text).filter { $0 != $1 }.count == 1)
        var utf8 = text
        Corruption.utf8.apply(to: &utf8, &draw)
        #expect(String(validUTF8: utf8) == nil && utf8.count == text.count)
        var json = text + [0x1e]
        Corruption.json.apply(to: &json, &draw)
        #expect(json.count == text.count && json.last == 0x1e)
        #expect(throws: (any Error).self) { try JSONValue(parsing: Array(json.dropLast())) }
        var empty: [UInt8] = []
        Corruption.bits(9).apply(to: &empty, &draw)
        #expect(empty.isEmpty)
    }

    @Test(arguments: [0, 1, 124, 125, 126, 254, 255, 256, 65_535, 65_536])
    func damagedHeaders(_ size: Int) throws {
        let payload = [UInt8](repeating: 0x61, count: size)
        func header(_ frame: [UInt8]) throws -> (FrameHeader, Int) {
            var scanner = FrameScanner()
            guard case .header(let header, let next) = scanner.scan(frame.span, from: 0) else {
                throw NetError("scan", code: 0, reason: "no header")
            }
            return (header, next)
        }
        let long = try header(Corruption.length.frame(.text, payload, mask: nil))
        #expect(
            long.0.length != UInt64(size) && max(long.0.length, UInt64(size)) - min(long.0.length, UInt64(size)) == 1)
        let masked = Corruption.mask.frame(.text, payload, mask: nil)
        #expect(masked[1] & 0x80 == 0x80)
        #expect(Corruption.mask.frame(.text, payload, mask: 7)[1] & 0x80 == 0)
        #expect(Corruption.rsv.frame(.binary, payload, mask: nil)[0] == 0xa2)
    }
}
