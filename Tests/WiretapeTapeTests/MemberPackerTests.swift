import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// The members that are cut, each with its field and its lines.
private func take(_ packer: inout MemberPacker) -> [(info: MemberInfo, lines: String)] {
    var compressor = MemberCompressor()
    var members: [(info: MemberInfo, lines: String)] = []
    while true {
        var bytes: [UInt8] = []
        guard packer.takeMember(&compressor, level: 1, into: &bytes) else { return members }
        var inflater = Inflater(.gzip)
        var lines: [UInt8] = []
        var used = 0
        let outcome = inflater.feed(bytes.span, used: &used, limit: 80 << 20, into: &lines)
        #expect(outcome == .end)
        #expect(used == bytes.count)
        guard let info = MemberInfo(header: bytes.span, at: 0) else {
            Issue.record("no field")
            return members
        }
        #expect(Int(info.size) == bytes.count)
        members.append((info, String(decoding: lines, as: UTF8.self)))
    }
}

private func message(_ packer: inout MemberPacker, _ time: UInt64, _ text: String) {
    let bytes = Array(text.utf8)
    packer.message(time, 1, .toServer, .text, bytes.span)
}

struct MemberPackerTests {
    @Test func aMemberIsDueWhenItsFirstEventIsOldEnough() {
        var packer = MemberPacker()
        #expect(packer.dueAt == nil && packer.oldest == nil)
        packer.stamp = 1000
        message(&packer, 5, "a")
        packer.stamp = 2000
        message(&packer, 6, "b")
        #expect(packer.oldest == 1000 && packer.dueAt == 1000 + MemberPacker.patience)
        let due = [0, 999 + MemberPacker.patience, 1000 + MemberPacker.patience].map { packer.isDue(at: $0) }
        #expect(due == [false, false, true])
        #expect(take(&packer).isEmpty)
        packer.flush()
        let cutIsDue = packer.isDue(at: 0)
        #expect(cutIsDue && packer.oldest == 1000)
        let members = take(&packer)
        #expect(members.count == 1 && members[0].info.events == 2 && members[0].info.firstTime == 5)
        #expect(members[0].info.firstEvent == 1 && packer.events == 2)
        #expect(packer.oldest == nil && packer.pending == 0)
        packer.flush()
        #expect(take(&packer).isEmpty)
    }

    @Test func membersHoldAtMostOneMebibyteOfLines() {
        var packer = MemberPacker()
        packer.appendHeader(TapeHeader())
        let text = String(repeating: "x", count: 1000)
        for n in 0..<5000 { message(&packer, UInt64(n), text) }
        packer.flush()
        let members = take(&packer)
        #expect(members.count == 6)
        var event: UInt64 = 1
        for (info, lines) in members {
            #expect(lines.utf8.count <= MemberPacker.memberSize)
            #expect(info.firstEvent == event && info.firstTime == event - 1)
            event += UInt64(info.events)
        }
        #expect(event == 5001)
    }

    /// Cut members are taken while the next one gathers, as the writer does: nothing is kept of those taken.
    @Test func memoryDoesNotGrowWithTheTape() {
        var packer = MemberPacker()
        let text = String(repeating: "y", count: 100_000)
        var lines = 0
        for n in 0..<200 {
            message(&packer, UInt64(n), text)
            for member in take(&packer) { lines += member.lines.utf8.count { $0 == UInt8(ascii: "\n") } }
            #expect(packer.pending <= MemberPacker.memberSize)
        }
        packer.flush()
        for member in take(&packer) { lines += member.lines.utf8.count { $0 == UInt8(ascii: "\n") } }
        #expect(lines == 200)
    }

    @Test func aLongLineStandsAlone() {
        var packer = MemberPacker()
        message(&packer, 1, "before")
        message(&packer, 2, String(repeating: "l", count: 3 << 20))
        message(&packer, 3, "after")
        packer.flush()
        let members = take(&packer)
        #expect(members.map(\.info.events) == [1, 1, 1])
        #expect(members.map(\.info.firstEvent) == [1, 2, 3])
        #expect(members[1].lines.utf8.count > 3 << 20)
    }

    @Test func timeNeverGoesBack() {
        var packer = MemberPacker()
        message(&packer, 10, "a")
        packer.append(TapeEvent(time: 7, connection: 1, .ping(.toServer, [])))
        packer.flush()
        let lines = take(&packer)[0].lines.split(separator: "\n")
        #expect(lines.map { $0.prefix(8) } == [#"{"t":10,"#, #"{"t":10,"#])
    }

    @Test func openingsAreCounted() {
        var packer = MemberPacker()
        packer.appendHeader(TapeHeader())
        packer.append(TapeEvent(time: 1, connection: 1, .open(.init())))
        packer.append(TapeEvent(time: 1, connection: 2, .open(.init())))
        packer.flush()
        packer.append(TapeEvent(time: 2, connection: 1, .ping(.toServer, [])))
        packer.flush()
        packer.append(TapeEvent(time: 2, connection: 3, .open(.init())))
        packer.stop(level: nil)
        let members = take(&packer)
        #expect(members.map(\.info.opens) == [2, 0, 1])
        #expect(members.map(\.info.firstConnection) == [1, 0, 3])
        #expect(members[2].lines.hasSuffix(#"{"t":2,"e":"stop","events":4,"connections":3}"# + "\n"))
    }

    @Test func aHeaderAloneIsAMemberWithoutEvents() {
        var packer = MemberPacker()
        packer.appendHeader(TapeHeader())
        packer.flush()
        let members = take(&packer)
        #expect(members[0].info.events == 0 && members[0].info.firstTime == .max)
        #expect(members[0].lines == "{\"tape\":1}\n")
    }

    @Test func plainLinesAreTheSame() {
        var packer = MemberPacker()
        message(&packer, 1, "a")
        packer.flush()
        var out: [UInt8] = []
        let took = packer.takePlain(into: &out)
        let again = packer.takePlain(into: &out)
        #expect(took && !again)
        #expect(
            String(decoding: out, as: UTF8.self) == #"{"t":1,"c":1,"e":"message","d":">","op":"text","text":"a"}"#
                + "\n")
    }
}
