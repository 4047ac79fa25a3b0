import Testing
import WiretapeReport

/// Rules about a handshake that no script has, since replay makes it: they do what they say over every transport.
@Suite struct HandshakeFaultTests {
    private static let handshake = AtmosphereTape.handshake

    /// What a client of that transport hears in its first half second, without padding.
    private func hear(_ transport: String, _ rule: String) throws -> (got: [String], report: ReplayReport) {
        let play = try Playbook(AtmosphereTape.sessions("100 < A"), faults: [rule])
        let c = play.atmosphere(transport)
        if transport == "long-polling" {
            var got = play.said(c)
            for _ in 1...4 where got.last != "FIN" && got.last != "RST" {
                play.pass(ms: 100)
                got += play.said(c)
                play.pollAgain(c, id: AtmosphereTape.id)
                got += play.said(c)
            }
            return (got, play.finish())
        }
        play.pass(ms: 500)
        return (play.said(c), play.finish())
    }

    private func isHandshake(_ text: String) -> Bool { text.contains("\(AtmosphereTape.id)|0|X|") }

    @Test(arguments: ["websocket", "sse", "streaming", "long-polling"]) func changes(_ transport: String) throws {
        for (rule, count, wanted) in [
            ("drop on handshake", 0, nil), ("duplicate(2) on handshake", 3, nil),
            (#"replace("nobody") on handshake"#, 0, "nobody"), ("corrupt(bytes=40) on handshake", 0, nil),
            (#"inject("more") after handshake"#, 1, "more"), (#"inject("more") before handshake"#, 1, "more"),
            (#"replace("nobody") + reset on handshake"#, 0, "nobody"), ("delay(50ms) on handshake", 1, nil),
            ("throttle(1kB/s) after handshake", 1, nil), ("reorder on handshake", 1, nil),
        ] as [(String, Int, String?)] {
            let (got, report) = try hear(transport, rule)
            let text = got.joined(separator: "\n")
            let seen = text.split(separator: "|0|X|", omittingEmptySubsequences: false).count - 1
            #expect(seen == count, "\(rule): \(got)")
            #expect(wanted.map(text.contains) ?? true, "\(rule): \(got)")
            #expect(report.unfired.isEmpty && report.faults.count == 1, "\(rule)")
        }
    }

    @Test(arguments: ["websocket", "sse", "streaming", "long-polling"]) func ends(_ transport: String) throws {
        for (rule, count, end) in [
            ("truncate(7) on handshake", 1, "FIN"), ("truncate(7) + reset on handshake", 1, "RST"),
            ("reset after handshake", 1, "RST"), ("disconnect on handshake", 0, "FIN"),
            ("delay(50ms) + reset on handshake", 0, "RST"),
        ] {
            let (got, report) = try hear(transport, rule)
            #expect(got.contains(end), "\(rule): \(got)")
            #expect(got.contains(where: isHandshake) == (count == 1), "\(rule): \(got)")
            #expect(got.contains("limit 7") == rule.hasPrefix("truncate"), "\(rule): \(got)")
            #expect(report.unfired.isEmpty, "\(rule)")
        }
    }

    @Test func aHandshakeThatIsLateHoldsBackWhatFollows() throws {
        let play = try Playbook(AtmosphereTape.sessions("10 < A"), faults: ["delay(200ms) on handshake"])
        let c = play.atmosphere("websocket")
        play.pass(ms: 150)
        play.expect(c, "101")
        play.pass(ms: 100)
        play.expect(c, Self.handshake, "1|A")
    }
}
