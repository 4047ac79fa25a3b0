import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// Events read again by their numbers, in any order.
struct TapeLookupTests {
    private static let events = Tapes.events(3000)

    @Test(arguments: [true, false]) func anyOrder(compressed: Bool) throws {
        let bytes = compressed ? Tapes.file(Self.events, linesPerMember: 70).bytes : Tapes.plain(Self.events)
        try check(bytes)
    }

    /// Long lines, so that a plain tape has several entries.
    @Test func longPlainTape() throws {
        let events = (0..<14).map { n in
            TapeEvent(
                time: UInt64(n), connection: 1,
                .message(.toServer, .text, [UInt8](repeating: 65, count: 400_000), deflated: false, fragments: []))
        }
        let index = try check(Tapes.plain(events))
        #expect(index.count > 3 && index.count < 8)
    }

    @discardableResult private func check(_ bytes: [UInt8]) throws -> TapeIndex {
        let whole = Tapes.read(bytes).events
        var reader = try TapeReader(bytes: bytes, name: "lookup")
        var index = TapeIndex(isCompressed: reader.isCompressed)
        while let event = try reader.next() { index.add(event) }
        let lookup = TapeLookup(bytes: bytes, name: "lookup", header: reader.header, index: index)
        var random = SplitMix64(seed: 4)
        let forward = stride(from: 1, through: whole.count, by: max(1, whole.count / 300)).flatMap {
            [$0, max(1, $0 - 20), min(whole.count, $0 + 40)]
        }
        let anywhere = (0..<60).map { _ in 1 + Int(random.below(whole.count)) }
        for number in forward + anywhere {
            let found = try lookup.event(UInt64(number))
            #expect(found?.event == whole[number - 1].event)
        }
        #expect(try lookup.event(0) == nil)
        #expect(try lookup.event(UInt64(whole.count) + 1) == nil)
        return index
    }
}
