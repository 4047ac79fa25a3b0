import Foundation
import Testing
import WiretapeCommands
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReport
import WiretapeTape
internal import WiretapeTapeCommands
import WiretapeTapeTools
import WiretapeWire

/// Formats against golden files. After a wanted change, write the new text over the file and look at the difference.
@Suite struct InspectFormatTests {
    private func golden(_ name: String) throws -> String {
        try String(
            contentsOf: Binary.root.appending(path: "Tests/Fixtures/inspect/\(name)"), encoding: .utf8)
    }

    @Test func table() throws {
        #expect(InspectRun.text(TableFormat(), InspectRun.chat) == (try golden("chat.table.txt")))
    }

    @Test func tablesKeepToTheTerminal() {
        let wide = InspectRun.text(TableFormat(), InspectRun.chat).split(separator: "\n")
        let narrow = InspectRun.text(TableFormat(width: 60), InspectRun.chat).split(separator: "\n")
        #expect(wide.count == narrow.count)
        for (line, short) in zip(wide, narrow) {
            #expect(short == (line.count > 60 ? line.prefix(59) + "…" : line))
        }
    }

    @Test func sequence() throws {
        #expect(InspectRun.text(SequenceFormat(), InspectRun.chat) == (try golden("chat.sequence.txt")))
    }

    @Test(arguments: [40, 72, 80, 100, 160])
    func lanesAreStraight(_ width: Int) {
        let lines = InspectRun.text(SequenceFormat(width: width), InspectRun.chat).split(separator: "\n").dropFirst()
        let lanes = lines.map { line in
            line.enumerated().filter { $0.element == "|" }.map(\.offset)
        }
        #expect(Set(lanes).count == 1)
        #expect(lines.allSatisfy { $0.count <= max(72, width) })
    }

    @Test func json() throws {
        let text = InspectRun.text(JSONFormat(), InspectRun.chat)
        #expect(text == (try golden("chat.json")))
        let names = [
            "event", "t_ms", "c", "session", "d", "transport", "protocol", "type", "role", "chain", "target", "summary",
            "bytes", "sha256", "fields",
        ]
        for line in text.split(separator: "\n") {
            #expect(try JSONValue(parsing: String(line)).members?.map(\.name) == names)
        }
    }

    /// A real session over each transport; js sends its messages on whatever connection is free.
    @Test func messagesOverHTTP() throws {
        var reader = try TapeReader(
            path: Binary.root.appending(path: "Tests/Fixtures/signalr/aspnet10-js-redirect-token.tape").path)
        var events: [TapeEvent] = []
        while let next = try reader.next() { events.append(next.event) }
        let rows = InspectRun.rows(events)
        let requests = rows.filter { $0.request != nil }
        #expect(requests.count == 23)
        // A request or answer keeps its row, and the messages in its body follow it.
        for (row, next) in zip(rows, rows.dropFirst()) where next.message != nil && next.message?.transport == .lp {
            #expect(row.event == next.event && (row.message == nil || row.message?.frame == next.message?.frame))
        }
        let messages = try InspectRun.text(JSONFormat(), events).split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
        for (number, transport, count) in [(1, "ws", 21), (2, "sse", 8), (3, "lp", 8)] {
            let own = messages.filter { $0["session"]?.int == number }
            #expect(own.count == count && own.allSatisfy { $0["transport"]?.string == transport })
        }
        let text = InspectRun.text(SequenceFormat(), events)
        let lines = text.split(separator: "\n")
        #expect(lines.filter { $0.contains("the client comes back") }.count == 2)
        #expect(lines.contains { $0.contains("--- Completion 1 -> 42 ---") && $0.contains("<---") })
    }

    @Test func runsAreFoldedFromTheFourthOn() {
        func folded(_ count: Int) -> Int {
            let pings = (1...count).map { InspectRun.at(Double($0), 1, .ping(.toClient, [])) }
            return InspectRun.text(SequenceFormat(), pings).split(separator: "\n").count - 1
        }
        #expect((1...6).map(folded) == [1, 2, 3, 4, 4, 4])
        let pieces = (0..<50).map { InspectRun.at(Double($0), 1, .chunk(x: 1, .toClient, [97])) }
        let text = InspectRun.text(SequenceFormat(), pieces)
        #expect(text.contains("47 more pieces in 47 ms"))
    }

    @Test func nothingIsAHeadAlone() {
        #expect(InspectRun.text(TableFormat(), []).split(separator: "\n").count == 1)
        #expect(InspectRun.text(SequenceFormat(), []).split(separator: "\n").count == 1)
        #expect(InspectRun.text(JSONFormat(), []).isEmpty)
    }

    @Test func rowsAreOneLine() {
        let rows = InspectRun.rows([
            InspectRun.at(0, 1, .mark("a\nb\u{1b}[2J")),
            InspectRun.at(0, 1, .request(x: 1, RequestHead(method: "GET", target: "/\r\n\u{85}x"), .none)),
            InspectRun.at(0, 1, .chunk(x: 1, .toServer, [0x0a, 0x1b, 0x5b])),
            InspectRun.at(0, 1, .unknown("new\u{7}kind")),
            InspectRun.text(0, 1, .toServer, "\u{9b}\n"), InspectRun.at(0, 1, .open(.init())),
            InspectRun.at(0, 1, .gone(by: .proxy, how: .rst, why: "a\nb")), InspectRun.text(0, 1, .toClient, "late"),
        ])
        #expect(rows.count == 8)
        #expect(rows.last?.text == "text message behind the connection's end, 5 bytes")
        for row in rows {
            #expect(!row.text.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
        }
    }

    @Test func wideCharactersTakeTwoCells() {
        let events = ["plain", "漢字 🎉 é"].map { InspectRun.at(0, 1, .mark($0)) }
        let lines = InspectRun.text(SequenceFormat(), events).split(separator: "\n").dropFirst()
        #expect(lines.first?.count == lines.last.map { $0.count + 3 })
    }

    @Test func gapsReadWell() {
        let cases: [(UInt64, String)] = [
            (0, "0.0 ms"), (400_000, "0.4 ms"), (9_999_999, "9.9 ms"), (10_000_000, "10 ms"), (812_300_000, "812 ms"),
            (1_000_000_000, "1.00 s"), (2_014_000_000, "2.01 s"), (99_990_000_000, "99.99 s"),
            (100_000_000_000, "100 s"),
            (720_000_000_000, "12 min"), (.max, "307445734 min"),
        ]
        for (gap, text) in cases {
            let lines = InspectRun.text(
                TableFormat(),
                [
                    TapeEvent(time: 0, connection: 1, .mark("a")), TapeEvent(time: gap, connection: 1, .mark("b")),
                ]
            ).split(separator: "\n")
            #expect(lines.last?.contains(" \(text) ") == true)
        }
    }
}
