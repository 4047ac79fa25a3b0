import Testing
import WiretapeReplay
import WiretapeReport

/// Rules about events in replay: names are labels, and numbers count the server's messages.
@Suite struct EventsFaultTests {
    private static func play(_ rule: String, _ script: String = EventsTape.prices) throws -> [String] {
        let play = try Playbook(EventsTape.sessions(script), speed: .instant, faults: [rule])
        let c = play.events("/prices")
        play.pass(ms: 100)
        let report = play.finish()
        #expect(report.unfired.isEmpty, "\(rule)")
        return play.take(c).filter { $0.hasPrefix("id") || $0.hasPrefix("data") || $0 == "RST" }
    }

    private func same(_ rule: String, _ wanted: [String]) throws {
        let got = try Self.play(rule)
        #expect(got == wanted, "\(rule)")
    }

    private func first(_ rule: String, _ wanted: String) throws {
        let got = try Self.play(rule).first
        #expect(got == wanted, "\(rule)")
    }

    private static let all = (1...5).map { EventsTape.event($0) }

    @Test func anEventIsLostDoubledOrReplaced() throws {
        try same("drop on price[2]", [0, 2, 3, 4].map { Self.all[$0] })
        try same("duplicate on price[2]", [0, 1, 1, 2, 3, 4].map { Self.all[$0] })
        try first("replace(/n=7) on price[1]", "id: 1\nevent: price\ndata: {\"n\":7}\n\n")
        try first("replace(\"{\\\"x\\\":[1]}\") on price[1]", "id: 1\nevent: price\ndata: {\"x\":[1]}\n\n")
        try first("replace(\"a b\") on price[1]", "id: 1\nevent: price\ndata: a b\n\n")
        let play = try Playbook(
            EventsTape.sessions(EventsTape.prices.replacing("data: {\"n\":1}", with: "data: [DONE]")), speed: .instant,
            faults: [#"replace(/text="[END]") on price[1]"#])
        let c = play.events("/prices")
        play.pass(ms: 1)
        #expect(play.take(c).contains("id: 1\nevent: price\ndata: [END]\n\n"))
    }

    /// The request, comments and `retry:` are no messages.
    @Test func numbersCountTheServersMessages() throws {
        try same("drop on message[1]", Array(Self.all[1...]))
        try same("drop on message[3, direction=toClient]", [0, 1, 3, 4].map { Self.all[$0] })
        try same("reset after price[3]", Array(Self.all[..<3]) + ["RST"])
        try same("reset on message[2]", [Self.all[0], "RST"])
    }

    @Test func theRequestIsAMessageWhenItsDirectionIsNamed() throws {
        let play = try Playbook(
            EventsTape.sessions(EventsTape.prices), speed: .instant,
            faults: ["reset after message[1, direction=toServer]"])
        let c = play.events("/prices")
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        #expect(play.finish().unfired.isEmpty)
    }

    @Test func anEventComesLate() throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.prices), faults: ["delay(2s) on message[1]"])
        let c = play.events("/prices")
        play.pass(ms: 2_009)
        play.expect(c, "200 …", "retry: 2000\n\n")
        play.pass(ms: 2)
        #expect(play.take(c).first == Self.all[0])
    }

    @Test func anEventIsCutShort() throws {
        let play = try Playbook(
            EventsTape.sessions(EventsTape.prices), speed: .instant, faults: ["truncate(8) + reset on price[2]"])
        let c = play.events("/prices")
        play.pass(ms: 100)
        #expect(play.take(c).contains { $0.hasPrefix("limit") })
        #expect(play.finish().unfired.isEmpty)
    }

    @Test func requestsCanBeRefused() throws {
        let play = try Playbook(
            EventsTape.sessions(EventsTape.prices), speed: .instant,
            faults: ["reset after price[1]", "respond(503) on connect[retry=1]"])
        let c = play.events("/prices")
        play.pass(ms: 100)
        #expect(play.take(c).last == "RST")
        let refused = play.events("/prices", behind: "1")
        #expect(play.take(refused).first?.hasPrefix("503") == true)
        let back = play.events("/prices", behind: "1")
        play.pass(ms: 100)
        #expect(play.take(back).filter { $0.hasPrefix("id") } == Array(Self.all[1...]))
        #expect(play.finish().unfired.isEmpty)
    }

    @Test(arguments: [
        ("reset after message[3]", ["Once\n", "upon", " \u{fffd}", "RST"]),
        ("drop on message[1]", ["upon", " \u{fffd}"]),
        ("replace(\"twice\") on message[1]", ["twice\n"]), ("duplicate on piece[2]", ["Once\n", "upon", "upon"]),
        (#"replace(/text="x\n") on message[1]"#, ["x\n", "upon"]),
        ("delay(1ms) on message[2]", ["Once\n", "upon"]), ("truncate(2) + reset on message[2]", ["Once\n"]),
    ])
    func piecesAreMessages(_ rule: String, _ wanted: [String]) throws {
        let play = try Playbook(EventsTape.sessions(EventsTape.pieces), speed: .instant, faults: [rule])
        let c = play.events("/say")
        play.pass(ms: 100)
        #expect(play.finish().unfired.isEmpty, "\(rule)")
        let got = Array(play.take(c).dropFirst())
        #expect(Array(got.prefix(wanted.count)) == wanted, "\(rule): \(got)")
    }

    @Test func linesAreMessages() throws {
        let play = try Playbook(
            EventsTape.sessions(EventsTape.lines), speed: .instant,
            faults: ["replace(/a=9) on message[2]", "drop on message[4]"])
        let c = play.events("/log")
        play.pass(ms: 10)
        play.expect(c, "200 …", "{\"a\":1}\n", "{\"a\":9}\n", "{\"a\":3}\n", "\n", "end")
    }
}
