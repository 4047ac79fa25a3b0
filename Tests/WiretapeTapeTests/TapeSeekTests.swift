import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeTape

struct TapeSeekTests {
    private static let events = Tapes.events(2000)
    private static let tape = Tapes.file(events, linesPerMember: 50)
    private static let whole = Tapes.read(tape.bytes).events

    private func reader() throws -> TapeReader { try TapeReader(bytes: Self.tape.bytes, name: "seek") }

    @Test func seekingInflatesOnlyWhereItArrives() throws {
        for time in [0, 1, 49_999_999, 50_000_000, 1_234_567_890, 1_999_000_000] as [UInt64] {
            var reader = try reader()
            let before = reader.inflated
            try reader.seek(toTime: time)
            let got = try reader.next()
            let wanted = Self.whole.first { $0.event.time >= time }
            #expect(got?.event == wanted?.event && got?.number == wanted?.number, "time \(time)")
            let inflated = reader.inflated - before
            #expect(inflated < 20_000, "\(inflated) bytes for time \(time)")
            var rest = 1
            while try reader.next() != nil { rest += 1 }
            #expect(rest == Self.whole.count - Int(wanted?.number ?? 0) + 1)
        }
        var reader = try reader()
        try reader.seek(toTime: .max)
        #expect(try reader.next() == nil)
    }

    @Test func seekingBackAndForth() throws {
        var reader = try reader()
        for time in [1_500_000_000, 3, 700_000_000, 0] as [UInt64] {
            try reader.seek(toTime: time)
            #expect(try reader.next()?.event.time == (time + 999_999) / 1_000_000 * 1_000_000)
        }
        #expect(try reader.next()?.number == 2)
    }

    @Test func openingsAreFoundWithoutInflating() throws {
        var reader = try reader()
        let before = reader.inflated
        let first = try reader.next()
        let members = try #require(try reader.members())
        #expect(members.count == Self.tape.members.count - 1)
        #expect(members.map { Int($0.offset) } == Array(Self.tape.members.dropLast()))
        let openings = try #require(try reader.openings())
        #expect(reader.inflated - before < 20_000)
        #expect(openings.reduce(0) { $0 + $1.info.opens } == 50)
        #expect(try reader.next()?.number == (first?.number ?? 0) + 1, "reading goes on where it was")
        for opening in openings.suffix(3) {
            try reader.seek(to: opening)
            var connection: UInt32?
            while connection == nil, let event = try reader.next() {
                if case .open = event.event.kind { connection = event.event.connection }
            }
            #expect(connection == opening.info.firstConnection)
        }
    }

    @Test func tapesWithoutTheFieldAreSoughtByReading() throws {
        var compressor = MemberCompressor()
        var foreign: [UInt8] = []
        let plain = Tapes.plain(Self.events)
        let info = MemberInfo(events: 0, firstTime: 0, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append(plain.span, info: info, level: 6, into: &foreign)
        // As gzip itself would write it.
        foreign[3] = 0
        foreign.removeSubrange(10..<MemberInfo.headerSize)
        for bytes in [plain, foreign] {
            var reader = try TapeReader(bytes: bytes, name: "foreign")
            #expect(try reader.members() == nil)
            _ = try reader.next()
            try reader.seek(toTime: 1_234_567_890)
            let got = try reader.next()
            #expect(got?.number == 1236 && got?.event == Self.events[1235])
        }
    }

    /// A header that lies about sizes or numbers is not believed.
    @Test func liesInTheFieldMisleadNobody() throws {
        for at in 16..<MemberInfo.headerSize {
            var bytes = Self.tape.bytes
            bytes[Self.tape.members[7] + at] ^= 0x15
            var reader = try TapeReader(bytes: bytes, name: "lies")
            do throws(TapeError) {
                try reader.seek(toTime: 800_000_000)
                if let got = try reader.next() { #expect(got.event.time >= 800_000_000) }
            } catch {
                #expect(error.kind == .damaged || error.kind == .badLine)
            }
        }
    }

    @Test func aTornEndEndsTheHops() throws {
        let cut = Array(Self.tape.bytes[..<(Self.tape.members[20] + 60)])
        var reader = try TapeReader(bytes: cut, name: "torn")
        let members = try #require(try reader.members())
        #expect(members.count == 20)
    }
}
