import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What a client says again that comes back with its tracking id, to a server that has kept its session.
@Suite struct SaidAgainTests {
    private static let talk = """
        10 > join
        20 < A
        30 > one
        40 < B
        50 < C
        """

    /// The connection is cut by the rule, and the client comes back with its id and says `again`.
    private func back(_ policy: String, cut rule: String, saying again: [String]) throws -> ReplayReport {
        let policies = [try Expectation.parse(policy)]
        let play = try Playbook(AtmosphereTape.sessions(Self.talk), faults: [rule]) { $0.expectations = policies }
        let first = play.atmosphere("websocket")
        play.sendBytes(first, .text, Array("join".utf8))
        play.pass(ms: 25)
        play.sendBytes(first, .text, Array("one".utf8))
        play.pass(ms: 10)
        play.close(first)
        play.pass(ms: 100)
        let second = play.atmosphere("websocket", id: AtmosphereTape.id)
        for text in again { play.sendBytes(second, .text, Array(text.utf8)) }
        play.pass(ms: 3_000)
        play.close(second)
        return play.finish()
    }

    @Test func whatWasTakenAwayIsSaidAgain() throws {
        let rule = "reset on Message[2, direction=toServer]"
        let kept = try back("keeps(Message)", cut: rule, saying: ["one"])
        #expect(kept.verdict == .pass && kept.expectations.map(\.word) == ["met"], "\(kept.reasons)")
        let lost = try back("keeps(Message)", cut: rule, saying: [])
        #expect(lost.expectations.map(\.word) == ["not met"])
    }

    @Test func whatArrivedIsSaidOnce() throws {
        let rule = "reset after Message[2, direction=toServer]"
        #expect(try back("once(Message)", cut: rule, saying: []).expectations.map(\.word) == ["met"])
        #expect(try back("once(Message)", cut: rule, saying: ["one"]).expectations.map(\.word) == ["not met"])
    }

    /// The server keeps what a known id had joined. An application that joins again is heard, and none has to.
    @Test func whoJoinsAgainIsHeard() throws {
        let rule = "reset after Message[2, direction=toServer]"
        let again = try back("resubscribes(Message)", cut: rule, saying: ["join"])
        #expect(again.verdict == .pass && again.expectations.map(\.word) == ["met"], "\(again.reasons)")
        #expect(try back("resubscribes(Message)", cut: rule, saying: []).expectations.map(\.word) == ["not judged"])
    }
}
