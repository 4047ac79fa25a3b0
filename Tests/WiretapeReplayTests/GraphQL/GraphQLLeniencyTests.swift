import Testing
import WiretapeAttempts
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What the recorded server took without a complaint, replay takes.
@Suite struct GraphQLLeniencyTests {
    private static let talk =
        GraphQLPlay.handshake + """
            10 > \(subscribe("a", "subscription { n }"))
            20 < \(next("a", 1))
            30 < \(complete("a"))

            """
    private static let goodbye = #"{"type":"connection_terminate"}"#

    private func talk(_ play: GraphQLPlay) throws -> ConnectionID {
        let c = try play.start()
        play.say(c, subscribe("1", "subscription { n }"))
        play.play.pass(ms: 100)
        play.expect(c, [next("1", 1), complete("1")])
        return c
    }

    /// Apollo iOS 1.x leaves a `graphql-transport-ws` connection with the farewell of the older dialect.
    @Test func theOlderFarewellThatTheServerTook() throws {
        let play = try GraphQLPlay(Self.talk + "40 > \(Self.goodbye)", speed: .factor(1))
        let c = try talk(play)
        play.say(c, Self.goodbye)
        play.play.pass(ms: 10)
        // The server took it and waited: so does the replay.
        play.expect(c, [])
        play.play.close(c, .closeFrame(code: 1001, reason: ""))
        let report = play.play.finish()
        #expect(report.verdict == .pass, "\(report.reasons)")
        #expect(report.sessions[0].finished && report.sessions[0].attempts[0].ended?.by == .client)
    }

    /// graphql-ws's own server closes with 4400: that is on the tape, and played.
    @Test func theOlderFarewellThatTheServerRefused() throws {
        let play = try GraphQLPlay(
            Self.talk + "40 > \(Self.goodbye)\n41 < close 4400 Invalid message received", speed: .factor(1))
        let c = try talk(play)
        play.say(c, Self.goodbye)
        play.play.pass(ms: 10)
        play.expect(c, ["close 4400 Invalid message received"])
        #expect(play.play.finish().verdict == .pass)
    }

    /// On a tape without it, it is what servers of the protocol call it.
    @Test func theOlderFarewellThatNobodySaid() throws {
        let play = try GraphQLPlay(Self.talk, speed: .factor(1))
        let c = try talk(play)
        play.say(c, Self.goodbye)
        play.play.pass(ms: 10)
        play.expect(c, ["close 4400 Invalid message received"])
        #expect(play.play.finish().verdict == .diverged)
    }

    /// The client need not say it either.
    @Test func aFarewellIsOptional() throws {
        let play = try GraphQLPlay(Self.talk + "40 > \(Self.goodbye)", speed: .factor(1))
        let c = try talk(play)
        play.play.close(c, .closeFrame(code: 1000, reason: ""))
        let report = play.play.finish()
        #expect(report.verdict == .pass && report.sessions[0].missing.isEmpty)
    }

    /// Each rule by itself: what one recorded client did is no excuse for something else.
    @Test func otherRulesThatTheServerDidNotKeep() throws {
        let early = """
            1 > {"type":"connection_init"}
            2 > \(subscribe("a", "subscription { n }"))
            3 < {"type":"connection_ack"}
            20 < \(next("a", 1))
            30 < \(complete("a"))
            """
        let play = try GraphQLPlay(early, speed: .factor(1))
        let c = play.upgrade()
        play.say(c, #"{"type":"connection_init"}"#, subscribe("1", "subscription { n }"))
        play.play.pass(ms: 100)
        play.expect(c, ["101", GraphQLPlay.ack, next("1", 1), complete("1")])
        play.say(c, #"{"type":"connection_init"}"#)
        play.expect(c, ["close 4429 Too many initialisation requests"])

        let strange =
            GraphQLPlay.handshake + """
                5 > {"type":"hello","n":1}
                10 > \(subscribe("a", "subscription { n }"))
                20 < \(next("a", 1))
                """
        let other = try GraphQLPlay(strange)
        let d = try other.start()
        other.say(d, #"{"type":"hello","n":1}"#)
        other.expect(d, [])
        other.say(d, #"{"type":"howdy"}"#)
        other.expect(d, ["close 4400 Invalid message received"])
    }
}
