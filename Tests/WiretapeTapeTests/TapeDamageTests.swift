import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// Acceptance 4: cut at every byte of the last two members, each byte of one member changed. Always a clear result, and
/// a repair that reads cleanly.
struct TapeDamageTests {
    private static let events = Tapes.events(21)
    /// Members of about 4 KiB: random bytes stay large.
    private static let tape: (bytes: [UInt8], members: [Int]) = {
        var random = SplitMix64(seed: 5)
        let events = Self.events.map { event in
            var event = event
            if case .message(let d, .text, _, _, _) = event.kind {
                let bytes = (0..<590).map { _ in UInt8(truncatingIfNeeded: random.next()) | 0x80 }
                event.kind = .message(d, .binary, bytes, deflated: false, fragments: [])
            }
            return event
        }
        return Tapes.file(events, linesPerMember: 7)
    }()
    private static let whole = Tapes.read(tape.bytes).events

    @Test func membersAreAboutFourKibibytes() {
        let sizes = zip(Self.tape.members.dropFirst(), Self.tape.members).map { $0 - $1 }
        #expect(sizes.count == 3 && sizes.prefix(3).allSatisfy { (3 << 10..<6 << 10).contains($0) }, "\(sizes)")
    }

    @Test func cutAtEveryByteOfTheLastTwoMembers() throws {
        let (bytes, members) = Self.tape
        let start = members[members.count - 3]
        var most = 0
        for end in start..<bytes.count {
            let cut = Array(bytes[..<end])
            let reading = Tapes.read(cut)
            #expect(reading.error == nil, "cut at \(end): \(String(describing: reading.error))")
            #expect(reading.isTruncated == !members.contains(end), "cut at \(end)")
            #expect(reading.events == Array(Self.whole.prefix(reading.events.count)))
            #expect(reading.events.count >= most, "a longer piece never holds less")
            most = max(most, reading.events.count)
            guard end % 19 == 0 else { continue }
            let (repaired, report) = try TapeRepair.repair(bytes: cut, name: "cut", isCompressed: true)
            #expect(report.events == UInt64(reading.events.count) && report.isTruncated == reading.isTruncated)
            #expect(report.lost == 0 && report.damagedMembers.isEmpty)
            let again = Tapes.read(repaired)
            #expect(again.error == nil && !again.isTruncated)
            #expect(again.events.map(\.event) == reading.events.map(\.event))
        }
        #expect(most > 14)
    }

    /// Within the second member, the third following: an error that names the member, or no difference (time,
    /// system and field of the header are not part of the lines).
    @Test func eachByteOfAMemberChanged() throws {
        let (bytes, members) = Self.tape
        let before = Self.whole.filter { $0.offset < UInt64(members[1]) }.count
        for at in members[1]..<members[2] {
            var changed = bytes
            changed[at] ^= UInt8(1 << (at % 8))
            let reading = Tapes.read(changed)
            guard let error = reading.error else {
                #expect(reading.events.map(\.event) == Self.whole.map(\.event), "byte \(at)")
                continue
            }
            #expect(error.kind == .damaged || error.kind == .badLine || error.kind == .tooLarge, "byte \(at): \(error)")
            #expect(error.offset == UInt64(members[1]) && error.event == UInt64(reading.events.count))
            #expect(reading.events.count >= before)
            #expect(reading.events.prefix(before) == Self.whole.prefix(before))
            guard at % 11 == 0 else { continue }
            let (repaired, report) = try TapeRepair.repair(bytes: changed, name: "changed", isCompressed: true)
            #expect(report.damagedMembers == [UInt64(members[1])] && report.lost == 7 && !report.isMoreLost)
            let again = Tapes.read(repaired)
            #expect(again.error == nil && !again.isTruncated && again.isStopped)
            var wanted = Self.whole.map(\.event)
            wanted.removeSubrange(before..<before + 7)
            wanted.insert(TapeEvent(time: wanted[before - 1].time, connection: 0, .gap(lost: 7)), at: before)
            #expect(again.events.map(\.event) == wanted, "byte \(at)")
        }
    }

    @Test func aDamagedFirstOrLastMemberIsRepairedToo() throws {
        let (bytes, members) = Self.tape
        var first = bytes
        first[100] ^= 0xff
        #expect(Tapes.read(first).error?.kind == .damaged)
        let (repaired, report) = try TapeRepair.repair(bytes: first, name: "first", isCompressed: true)
        #expect(report.isHeaderLost && report.lost == 7 && report.events == UInt64(Self.whole.count - 7))
        let again = Tapes.read(repaired)
        #expect(again.error == nil && again.events.first?.event.kind == .gap(lost: 7))
        #expect(again.events.dropFirst().map(\.event) == Self.whole.dropFirst(7).map(\.event))

        var last = bytes
        last[last.count - 5] ^= 1
        let (other, lastReport) = try TapeRepair.repair(bytes: last, name: "last", isCompressed: false)
        let kept = Self.whole.filter { $0.offset < UInt64(members[2]) }.count
        #expect(lastReport.events == UInt64(kept) && lastReport.lost == UInt64(Self.whole.count - kept))
        #expect(!lastReport.isStopped && Tapes.read(other).events.count == kept + 1)
    }

    @Test func plainTapesAreRepairedLineByLine() throws {
        let text = """
            # kept
            {"tape":1,"tool":"t"}
            {"t":1,"c":1,"e":"open","unknown":[1, 2]}
            {"t":2,"c":1,"e":"op
            # kept too
            {"t":3,"e":"mark","text":"x"}
            {"t":4,"e":"ma
            """
        let (repaired, report) = try TapeRepair.repair(bytes: Array(text.utf8), name: "p", isCompressed: false)
        #expect(report.badLines == 1 && report.lost == 1 && report.isTruncated && report.events == 2)
        #expect(
            String(decoding: repaired, as: UTF8.self) == """
                # kept
                {"tape":1,"tool":"t"}
                {"t":1,"c":1,"e":"open","unknown":[1, 2]}
                {"t":1,"e":"gap","lost":1}
                # kept too
                {"t":3,"e":"mark","text":"x"}

                """)
        #expect(report.text == "2 events kept; 1 lost; 1 lines were no events; the end was cut off")
    }

    @Test(arguments: ["", "hello\nworld\n", #"{"tape":9}"# + "\n", "# only this\n"])
    func whatIsNoTapeIsNotRepaired(text: String) {
        do {
            _ = try TapeRepair.repair(bytes: Array(text.utf8), name: "n", isCompressed: true)
            Issue.record("repaired")
        } catch {
            #expect([.empty, .notATape, .newerVersion].contains(error.kind))
        }
    }

    @Test func zerosBehindTheLastMemberAreATornEnd() throws {
        let bytes = Self.tape.bytes[..<Self.tape.members[2]] + [UInt8](repeating: 0, count: 100_000)
        let reading = Tapes.read(Array(bytes))
        #expect(reading.error == nil && reading.isTruncated && reading.events.count == 14)
    }

    @Test func aTapeIsRepairedInItsPlace() throws {
        let path = temporaryPath("repair") + ".tape.gz"
        defer { remove(path) }
        let (bytes, members) = Self.tape
        writeFile(path, bytes)
        #expect(try TapeRepair.repair(path: path).isIntact)
        #expect(readFile(path) == bytes, "left as it is")
        let cut = Array(bytes[..<(members[3] - 900)])
        writeFile(path, cut)
        let report = try TapeRepair.repair(path: path)
        #expect(report.isTruncated && report.events > 14)
        #expect(Tapes.read(readFile(path)).events.count == Int(report.events))
        #expect(try TapeRepair.repair(path: path).isIntact)

        let copy = temporaryPath("copy") + ".tape"
        defer { remove(copy) }
        writeFile(path, cut)
        #expect(try TapeRepair.repair(path: path, to: copy) == report)
        #expect(readFile(path) == cut)
        #expect(readFile(copy).starts(with: Array(#"{"tape":1,"#.utf8)))
        do {
            _ = try TapeRepair.repair(path: path, to: copy)
            Issue.record("overwritten")
        } catch {
            #expect((error as? TapeError)?.kind == .exists)
        }
    }
}
