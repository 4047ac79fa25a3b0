import Testing
import WiretapeAttempts
import WiretapeBytes

/// Who ended a connection, how and when, from what was known before it ended.
@Suite struct EndSignsTests {
    private let early = WireInstant.zero.advanced(by: 1_000)
    private let late = WireInstant.zero.advanced(by: 5_000)

    @Test func withoutSignsAnEndStaysAsItIs() {
        let end = EndSigns().settled(by: .client, .fin, reason: "why", at: late)
        #expect(end == EndSigns.Ending(by: .client, how: .fin, reason: "why", at: late))
    }

    @Test func aClientLeftAtItsFirstSign() {
        var signs = EndSigns()
        signs.clientLeft(with: .close(1000), at: early)
        signs.clientLeft(with: .fin, at: late)
        let end = signs.settled(by: .client, .givenUp, at: late)
        #expect(end == EndSigns.Ending(by: .client, how: .close(1000), reason: nil, at: early))
    }

    @Test func aResetThatLookedLikeAFINIsAReset() {
        var signs = EndSigns()
        signs.clientLeft(with: .fin, at: early)
        #expect(signs.settled(by: .client, .reset, at: late).how == .reset)
    }

    @Test func aRuleThatEndsTheConnectionAfterwardsEndsIt() {
        var signs = EndSigns()
        signs.clientLeft(with: .fin, at: early)
        let end = signs.settled(by: .fault("reset"), .reset, at: late)
        #expect(end == EndSigns.Ending(by: .fault("reset"), how: .reset, reason: nil, at: late))
    }

    @Test(arguments: [Attempt.End.Party.server, .fault("inject")])
    func aClientThatWasToldToLeaveEndsNothingItself(_ sender: Attempt.End.Party) {
        var signs = EndSigns()
        signs.saidGoodbye(by: sender, at: early)
        let end = signs.settled(by: .client, .close(1000), at: late)
        #expect(end.by == sender && end.how == .close(nil) && end.at == late)
        #expect(end.reason == "the protocol's own close message")
    }

    /// A close frame says more than the message before it.
    @Test(arguments: [(Attempt.End.Manner.fin, Attempt.End.Manner.close(nil)), (.close(1001), .close(1001))])
    func aServerThatEndsTheConnectionItself(_ how: Attempt.End.Manner, _ told: Attempt.End.Manner) {
        var signs = EndSigns()
        signs.saidGoodbye(by: .server, at: early)
        let end = signs.settled(by: .server, how, at: late)
        #expect(end.by == .server && end.how == told && end.at == late)
    }

    @Test func whatComesAfterTheClientsGoodbyeIsTooLate() {
        var signs = EndSigns()
        signs.saidGoodbye(by: .client, at: early)
        signs.saidGoodbye(by: .server, at: late)
        let end = signs.settled(by: .fault("reset"), .reset, at: late)
        #expect(end == EndSigns.Ending(by: .client, how: .close(nil), reason: nil, at: early))
    }
}
