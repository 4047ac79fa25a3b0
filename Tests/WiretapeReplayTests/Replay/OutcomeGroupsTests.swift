import Testing
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Many clients of one tape: runs of equal outcome stand together in the report.
@Suite struct OutcomeGroupsTests {
    @Test func equalOutcomesAreOneEntryAndOthersStandAlone() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > \(call("0", "Echo", "1"))
                20 < \(done("0", "1"))
                """)
        let play = try Playbook([tape], speed: .instant) { $0.clients = 4 }
        for i in 1...4 {
            play.host = "10.0.0.\(i)"
            let c = try play.start()
            play.pass(ms: UInt64(i * 7))
            play.send(c, call("\(i)", "Echo", i == 3 ? "2" : "1"))
            play.close(c)
        }
        let report = play.finish()
        #expect(report.sessions.map(\.run) == [1, 2, 3, 4])
        let lines = report.text.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(2) == [
                "session 1, 3 runs (signalr over ws), each 2 client messages matched, finished",
                "  1  connected  negotiate 200, upgrade 101  ended by client: fin",
            ])
        #expect(
            lines[2]
                == "session 1 run 3 (signalr over ws), 1 client messages matched, not finished, 1 unexpected")
        #expect(lines[3].hasPrefix("  1  ") && lines[3].contains("close 1011"))
        #expect(report.exitCode == 2)
        // The machine's report keeps them apart.
        #expect(report.json["sessions"]?.array?.count == 4)
    }
}
