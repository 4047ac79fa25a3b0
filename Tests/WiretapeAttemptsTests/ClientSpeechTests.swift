import Testing
import WiretapeAttempts
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What a client owes after it has come back.
@Suite struct ClientSpeechTests {
    private func message(
        _ direction: Direction, _ role: Role, _ label: String, id: String, channel: String? = nil
    ) -> Message {
        Message(
            direction: direction, role: role, type: role == .request ? "subscribe" : "next", label: label,
            chain: Chain(id, origin: .toServer), meaning: .string(label), summary: label, bytes: [], channel: channel)
    }

    private func subscriptions(_ speech: ClientSpeech) -> Int { speech.owed.count { $0.isSubscription } }

    private func ask(_ label: String, id: String) -> Message { message(.toServer, .request, label, id: id) }

    @Test func whatWasOpenIsOwedUntilItIsAskedForAgain() {
        var all = ClientSpeech()
        all.passed(ask("ticks", id: "1"), subscribes: true)
        all.passed(ask("chat", id: "2"), subscribes: true)
        all.lost()
        // A client that stays away owes nothing.
        #expect(subscriptions(all) == 0)
        all.returned()
        #expect(subscriptions(all) == 2)
        all.passed(ask("ticks", id: "7"), subscribes: true)
        #expect(subscriptions(all) == 1)
        all.lost()
        all.returned()
        #expect(subscriptions(all) == 2)
        all.passed(ask("chat", id: "1"), subscribes: true)
        all.passed(ask("ticks", id: "2"), subscribes: true)
        #expect(subscriptions(all) == 0)
    }

    @Test func whatIsOverIsNotOwed() {
        var all = ClientSpeech()
        all.passed(ask("answered", id: "1"), subscribes: true)
        all.passed(message(.toClient, .reply, "", id: "1"), subscribes: false)
        all.passed(ask("left", id: "2"), subscribes: true)
        all.passed(message(.toServer, .cancel, "", id: "2"), subscribes: false)
        all.passed(ask("a call", id: "3"), subscribes: false)
        all.lost()
        all.returned()
        #expect(subscriptions(all) == 0)
    }

    @Test func aRequestWithAStreamOfAnswersIsOne() {
        var all = ClientSpeech()
        all.passed(ask("stream", id: "1"), subscribes: false)
        all.passed(message(.toClient, .push, "", id: "1"), subscribes: false)
        all.lost()
        all.returned()
        #expect(subscriptions(all) == 1)
    }

    @Test func aChannelIsOneAfterItsAnswer() {
        var all = ClientSpeech()
        let subscribe = message(.toServer, .request, "room", id: "room", channel: "room")
        all.passed(subscribe, subscribes: true)
        all.passed(message(.toClient, .reply, "", id: "room"), subscribes: false)
        all.lost()
        all.returned()
        #expect(subscriptions(all) == 1)
        all.passed(message(.toServer, .cancel, "", id: "room"), subscribes: false)
        #expect(subscriptions(all) == 0)
        all.passed(subscribe, subscribes: true)
        all.passed(message(.toServer, .cancel, "", id: "room"), subscribes: false)
        all.lost()
        all.returned()
        #expect(subscriptions(all) == 0)
    }

    private func call(_ label: String, id: String) -> Message {
        var call = message(.toServer, .request, label, id: id)
        call.type = "Invocation"
        return call
    }

    /// A client that says everything on `first`, is answered as far as `answers` goes, comes back and says `then`.
    private func talk(_ first: [Message], answers: [String], then: [Message], watched: Set<String> = []) -> ClientSpeech
    {
        var speech = ClientSpeech()
        for one in first {
            speech.passed(one, subscribes: false, isWatched: watched.contains(one.label ?? ""))
        }
        for id in answers { speech.passed(message(.toClient, .reply, "", id: id), subscribes: false) }
        speech.lost()
        speech.returned()
        for one in then {
            speech.passed(one, subscribes: false, isWatched: watched.contains(one.label ?? ""))
        }
        return speech
    }

    private func twice() -> Course {
        var course = Course()
        course.connects()
        course.connects(after: 0)
        return course
    }

    @Test func whatSubscribesByACallIsNamed() throws {
        let join = call("JoinGroup", id: "1")
        let forgotten = talk([join], answers: ["1"], then: [], watched: ["JoinGroup"])
        let judged = try twice().judged(by: "resubscribes(JoinGroup)", speech: forgotten)
        #expect(judged.map(\.word) == ["not met"])
        #expect(
            judged[0].reason.contains("without asking again for 1 message: Invocation JoinGroup"), "\(judged[0].reason)"
        )
        let joined = talk([join], answers: ["1"], then: [call("JoinGroup", id: "2")], watched: ["JoinGroup"])
        #expect(try twice().judged(by: "resubscribes(JoinGroup)", speech: joined).map(\.word) == ["met"])
        // What has to be said again is no repetition.
        #expect(joined.repeated == 0)
        let again = talk([join], answers: ["1"], then: [call("JoinGroup", id: "2")])
        #expect(again.repeated == 1)
    }

    /// The client that forgets its group is no longer told that all is well.
    @Test func nothingThatSubscribesIsNotJudged() throws {
        let speech = talk([call("JoinGroup", id: "1")], answers: ["1"], then: [])
        let judged = try twice().judged(by: "resubscribes", speech: speech)
        #expect(judged.map(\.word) == ["not judged"])
        #expect(
            judged[0].reason.hasSuffix(
                "(it said JoinGroup); what subscribes by an invocation has to be named, as in resubscribes(JoinGroup)"))
    }

    /// Each name by itself: one that was met does not hide one that nothing was held to.
    @Test func everyNameIsHeldToSomething() throws {
        let speech = talk(
            [call("JoinGroup", id: "1")], answers: ["1"], then: [call("JoinGroup", id: "2")], watched: ["JoinGroup"])
        let judged = try twice().judged(by: "resubscribes(JoinGroup, JoinGrup)", speech: speech)
        #expect(judged.map(\.word) == ["met", "not judged"])
        #expect(judged[1].reason.contains("the client never said 'JoinGrup'; did you mean 'JoinGroup'?"))
    }

    @Test func whatWasAcknowledgedIsNotSaidAgain() throws {
        let send = call("Send", id: "1")
        let again = talk([send], answers: ["1"], then: [call("Send", id: "2")])
        let judged = try twice().judged(by: "once(Send)", speech: again)
        #expect(judged.map(\.word) == ["not met"])
        #expect(
            judged[0].reason.contains(
                "said Invocation Send again on connection 2, though it was acknowledged on connection 1"))
        #expect(
            try twice().judged(by: "once(Send)", speech: talk([send], answers: ["1"], then: [])).map(\.word) == ["met"])
        // Without its answer it may come again, and there is nothing to judge.
        let lost = talk([send], answers: [], then: [call("Send", id: "2")])
        #expect(lost.repeated == 0)
        #expect(try twice().judged(by: "once(Send)", speech: lost).map(\.word) == ["not judged"])
        #expect(try twice().judged(by: "once(Sent)", speech: lost)[0].reason.contains("did you mean 'Send'?"))
    }

    @Test func whatWasNotAcknowledgedIsSaidAgain() throws {
        let send = call("Send", id: "1")
        let lost = talk([send], answers: [], then: [])
        let judged = try twice().judged(by: "keeps(Send)", speech: lost)
        #expect(
            judged.map(\.word) == ["not met"]
                && judged[0].reason.contains("without saying again 1 message: Invocation Send"))
        let kept = talk([send], answers: [], then: [call("Send", id: "2")])
        #expect(try twice().judged(by: "keeps(Send)", speech: kept).map(\.word) == ["met"])
        let answered = talk([send], answers: ["1"], then: [])
        #expect(try twice().judged(by: "keeps(Send)", speech: answered).map(\.word) == ["not judged"])
    }

    @Test func whatWasNotAcknowledgedIsNotSaidAgain() throws {
        let send = call("Send", id: "1")
        let again = talk([send], answers: [], then: [call("Send", id: "2")])
        let judged = try twice().judged(by: "drops(Send)", speech: again)
        #expect(judged.map(\.word) == ["not met"])
        #expect(
            judged[0].reason.contains("said again 1 message: Invocation Send, which was not acknowledged"),
            "\(judged[0].reason)")
        let dropped = talk([send], answers: [], then: [])
        #expect(try twice().judged(by: "drops(Send)", speech: dropped).map(\.word) == ["met"])
        // An acknowledged one is `once`'s, and says nothing here.
        for then in [[], [call("Send", id: "2")]] {
            let answered = talk([send], answers: ["1"], then: then)
            #expect(try twice().judged(by: "drops(Send)", speech: answered).map(\.word) == ["not judged"])
        }
    }

    /// A client that has not come back owes nothing, and nothing is known of what it would do.
    @Test func aClientThatStaysAwayDropsNothing() throws {
        var speech = ClientSpeech()
        speech.passed(call("Send", id: "1"), subscribes: false)
        speech.lost()
        var course = Course()
        course.connects()
        let judged = try course.judged(by: "drops(Send)", running: 5, speech: speech)
        #expect(judged.map(\.word) == ["not judged"] && judged[0].reason.contains("no session came back"))
    }

    /// The time between a client's return and the run's end was too short for it to say anything again.
    @Test func droppingTakesTime() throws {
        var course = Course()
        course.connects()
        let speech = talk([call("Send", id: "1")], answers: [], then: [])
        var back = Attempt(number: 2, retry: 1, start: 1_000 * Course.ms, delay: 0)
        back.outcome = .connected
        let words = try ([100, 600] as [UInt64]).map { later in
            let session = JudgedSession(
                session: 1, run: 1, attempts: course.attempts + [back], speech: speech,
                elapsed: (1_000 + later) * Course.ms)
            return Judge.judge([session], by: [try Expectation.parse("drops(Send)")])[0].word
        }
        #expect(words == ["not judged", "met"])
    }

    /// A mutation that had no answer is no subscription, and a request that does not tell what it is is not judged.
    @Test func aCallIsNoSubscription() throws {
        func speech(_ subscribes: Bool?, again: Bool) -> ClientSpeech {
            var speech = ClientSpeech()
            speech.passed(ask("ticks", id: "1"), subscribes: true)
            speech.passed(ask("add", id: "2"), subscribes: subscribes)
            speech.lost()
            speech.returned()
            speech.passed(ask("ticks", id: "3"), subscribes: true)
            if again { speech.passed(ask("add", id: "4"), subscribes: subscribes) }
            return speech
        }
        for again in [true, false] {
            #expect(
                try twice().judged(by: "resubscribes", speech: speech(false, again: again)).map(\.word) == ["met"])
        }
        #expect(try twice().judged(by: "resubscribes", speech: speech(true, again: false)).map(\.word) == ["not met"])
        let unclear = try twice().judged(by: "resubscribes", speech: speech(nil, again: false))
        #expect(unclear.map(\.word) == ["not judged"])
        #expect(unclear[0].reason.contains("subscribe add does not tell whether it is a subscription"))
        #expect(try twice().judged(by: "resubscribes", speech: speech(nil, again: true)).map(\.word) == ["met"])
    }

    private func note(_ speech: ClientSpeech, _ policies: String...) throws -> String? {
        let session = JudgedSession(
            session: 1, run: 1, attempts: twice().attempts, speech: speech, elapsed: 9_000 * Course.ms)
        return session.openingNote(judgedBy: try policies.map { try Expectation.parse($0) })
    }

    private func push(_ label: String) -> Message {
        Message(
            direction: .toClient, role: .push, type: "Invocation", label: label, meaning: .string(label),
            summary: label,
            bytes: [])
    }

    /// JoinRoom and its answer, a push, a call; the connection is lost, and the client is back and says `then`.
    private func joined(then: [Message]) -> ClientSpeech {
        var speech = ClientSpeech()
        speech.passed(call("JoinRoom", id: "1"), subscribes: false)
        speech.passed(message(.toClient, .reply, "", id: "1"), subscribes: false)
        speech.passed(push("Tick"), subscribes: false)
        speech.passed(call("Send", id: "2"), subscribes: false)
        speech.lost()
        speech.returned()
        for one in then { speech.passed(one, subscribes: false) }
        return speech
    }

    @Test func whatAConnectionBeganWithIsNamed() throws {
        #expect(
            try note(joined(then: []))
                == "the client came back and did not say again what its first connection began with: JoinRoom; "
                + "--expect 'resubscribes(JoinRoom)' judges that")
        #expect(try note(joined(then: [call("JoinRoom", id: "9")])) == nil)
        // The policy has judged it.
        #expect(try note(joined(then: []), "resubscribes(JoinRoom)") == nil)
        #expect(try note(joined(then: []), "resubscribes", "once(Send)") != nil)
        // It counts what the client says on its last connection.
        var twice = joined(then: [call("JoinRoom", id: "9")])
        twice.lost()
        twice.returned()
        #expect(try note(twice)?.contains("JoinRoom") == true)
        // On its first connection a client owes nothing.
        var first = ClientSpeech()
        first.passed(call("JoinRoom", id: "1"), subscribes: false)
        first.lost()
        #expect(try note(first) == nil)
    }

    /// Without a push the opening ends with the first answer: what a user does later is no opening.
    @Test func anOpeningWithoutAPush() throws {
        let speech = talk([call("JoinRoom", id: "1")], answers: ["1"], then: [])
        #expect(try note(speech)?.contains(": JoinRoom; ") == true)
        var later = ClientSpeech()
        later.passed(call("JoinRoom", id: "1"), subscribes: false)
        later.passed(message(.toClient, .reply, "", id: "1"), subscribes: false)
        later.passed(call("Send", id: "2"), subscribes: false)
        later.lost()
        later.returned()
        #expect(try note(later)?.contains("Send") == false)
        // Requests over HTTP have a connection each.
        var operations = ClientSpeech()
        operations.hasNoOpening()
        operations.passed(call("Hello", id: "1"), subscribes: false)
        operations.lost()
        operations.returned()
        #expect(try note(operations) == nil)
    }

    @Test func aSubscriptionIsNamedWithItsOwnPolicy() throws {
        func speech(ends: Bool) -> ClientSpeech {
            var speech = ClientSpeech()
            speech.passed(ask("ticks", id: "1"), subscribes: true)
            speech.passed(message(.toClient, .push, "", id: "1"), subscribes: false)
            if ends { speech.passed(message(.toClient, .reply, "", id: "1"), subscribes: false) }
            speech.lost()
            speech.returned()
            return speech
        }
        #expect(try note(speech(ends: false))?.hasSuffix("ticks; --expect 'resubscribes' judges that") == true)
        #expect(try note(speech(ends: false), "resubscribes") == nil)
        #expect(try note(speech(ends: true)) == nil)
    }

    /// A message that nobody answers is acknowledged when it arrives, unless a rule takes it away.
    @Test func whatNobodyAnswers() throws {
        func typing(_ arrives: Bool) -> ClientSpeech {
            var speech = ClientSpeech()
            let typing = Message(
                direction: .toServer, role: .send, type: "event", label: "typing", meaning: .string("typing"),
                summary: "typing", bytes: [])
            speech.passed(typing, subscribes: false, arrives: arrives)
            speech.lost()
            speech.returned()
            speech.passed(typing, subscribes: false)
            return speech
        }
        #expect(typing(true).repeated == 1 && typing(false).repeated == 0)
        #expect(try twice().judged(by: "keeps(typing)", speech: typing(false)).map(\.word) == ["met"])
        #expect(try twice().judged(by: "once(typing)", speech: typing(true)).map(\.word) == ["not met"])
    }

    @Test func aConnectionThatIsTakenUpOwesNothing() {
        var speech = ClientSpeech()
        speech.passed(ask("ticks", id: "1"), subscribes: true)
        speech.lost()
        speech.resumed()
        #expect(speech.owed.isEmpty && speech.connection == 1)
        speech.lost()
        speech.returned()
        #expect(subscriptions(speech) == 1)
    }

    /// The server has kept what reached it: only what a rule took away is owed, and what is said again counts.
    @Test func aSessionThatTheServerKeepsOwesWhatWasTaken() {
        var speech = ClientSpeech()
        speech.passed(call("Join", id: "1"), subscribes: false, isWatched: true)
        speech.passed(message(.toClient, .reply, "", id: "1"), subscribes: false)
        speech.passed(call("Say", id: "2"), subscribes: false)
        speech.passed(message(.toClient, .reply, "", id: "2"), subscribes: false)
        speech.passed(call("Taken", id: "3"), subscribes: false, arrives: false)
        speech.lost()
        speech.wentOn()
        #expect(speech.owed.map(\.saying.label) == ["Taken"] && speech.connection == 2)
        #expect(speech.wasAcknowledged(before: "Say"))
        speech.passed(call("Join", id: "4"), subscribes: false, isWatched: true)
        speech.passed(call("Taken", id: "5"), subscribes: false)
        #expect(speech.paid.map(\.saying.label) == ["Join", "Taken"] && speech.owed.isEmpty && speech.repeated == 0)
        speech.passed(call("Say", id: "6"), subscribes: false)
        #expect(speech.repeated == 1)
    }

    /// The next session has chains of its own: what they are called there ends nothing of this one.
    @Test func whatWasLostIsTakenAlong() {
        var first = ClientSpeech()
        first.passed(ask("ticks", id: "1"), subscribes: true)
        var second = first.continued()
        #expect(subscriptions(second) == 1 && second.connection == 2)
        second.passed(message(.toServer, .cancel, "", id: "1"), subscribes: false)
        #expect(subscriptions(second) == 1)
        second.passed(ask("ticks", id: "1"), subscribes: true)
        #expect(second.owed.isEmpty && second.paid.count == 1)
    }

    @Test func theClientGetsTheTimeToSayIt() throws {
        var course = Course()
        course.connects()
        let speech = talk([call("JoinGroup", id: "1")], answers: ["1"], then: [], watched: ["JoinGroup"])
        var back = Attempt(number: 2, retry: 1, start: 1_000 * Course.ms, delay: 0)
        back.outcome = .connected
        let judged = [100, 600].map { later in
            JudgedSession(
                session: 1, run: 1, attempts: course.attempts + [back], speech: speech,
                elapsed: (1_000 + later) * Course.ms)
        }
        let policy = [try Expectation.parse("resubscribes(JoinGroup)")]
        #expect(judged.map { Judge.judge([$0], by: policy)[0].word } == ["not judged", "not met"])
    }

    @Test func whatIsKeptIsBounded() {
        var speech = ClientSpeech()
        for n in 0..<40_000 {
            speech.passed(call("Send \(n)", id: "\(n)"), subscribes: false)
            speech.passed(message(.toClient, .reply, "", id: "\(n)"), subscribes: false)
        }
        #expect(!speech.isCutShort)
        for n in 0..<2_000 { speech.passed(call("Open \(n)", id: "open \(n)"), subscribes: false) }
        speech.lost()
        speech.returned()
        #expect(speech.owed.count <= 1_024 && speech.isCutShort)
        for n in 0..<40_000 { speech.passed(call("Send \(n)", id: "\(n)"), subscribes: false) }
        #expect(speech.repeats.count <= 1_024 && speech.repeated > 8_000)
    }
}
