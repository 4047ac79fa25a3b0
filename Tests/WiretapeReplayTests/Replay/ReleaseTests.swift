import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport

/// When a server message is released: one test for each rule of `docs/replay.md`.
@Suite struct ReleaseTests {
    private let echo = TestTape.handshake

    @Test func aReplyWaitsForItsRequestAndGoesOutWithTheLiveID() throws {
        let play = try Playbook([
            TestTape.session(
                echo + """
                    10 > {"type":1,"invocationId":"0","target":"Echo","arguments":["a"]}
                    15 < {"type":3,"invocationId":"0","result":"a"}
                    """)
        ])
        let c = try play.start()
        play.pass(ms: 1_000)
        play.expect(c)
        play.send(c, #"{"type":1,"invocationId":"5f0c-uuid","target":"Echo","arguments":["a"]}"#)
        play.pass(ms: 4)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, #"{"type":3,"invocationId":"5f0c-uuid","result":"a"}"#)
        play.close(c)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished && report.sessions[0].matched == 2)
    }

    @Test func aPushWaitsForEveryClientMessageBeforeIt() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    echo + """
                        10 > {"type":1,"target":"Say","arguments":["a"]}
                        20 > {"type":1,"target":"Say","arguments":["b"]}
                        25 < {"type":1,"target":"Heard","arguments":["both"]}
                        """)
            ], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"target":"Say","arguments":["b"]}"#)
        play.expect(c)
        play.send(c, #"{"type":1,"target":"Say","arguments":["a"]}"#)
        play.expect(c, #"{"type":1,"target":"Heard","arguments":["both"]}"#)
    }

    @Test func aReplyWithACompleteChainPassesHeldPushes() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    echo + """
                        10 > {"type":1,"invocationId":"0","target":"A","arguments":[]}
                        20 > {"type":1,"target":"Say","arguments":[]}
                        25 < {"type":1,"target":"Heard","arguments":[]}
                        30 < {"type":3,"invocationId":"0","result":1}
                        35 < {"type":1,"target":"Later","arguments":[]}
                        """)
            ], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"0","target":"A","arguments":[]}"#)
        play.expect(c, #"{"type":3,"invocationId":"0","result":1}"#)
        play.send(c, #"{"type":1,"target":"Say","arguments":[]}"#)
        play.expect(
            c, #"{"type":1,"target":"Heard","arguments":[]}"#, #"{"type":1,"target":"Later","arguments":[]}"#)
    }

    @Test func concurrentInvocationsMayBeSwapped() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    echo + """
                        10 > {"type":1,"invocationId":"0","target":"Echo","arguments":["a"]}
                        11 > {"type":1,"invocationId":"1","target":"Echo","arguments":["b"]}
                        15 < {"type":3,"invocationId":"1","result":"b"}
                        16 < {"type":3,"invocationId":"0","result":"a"}
                        """)
            ], speed: .instant)
        let c = try play.start()
        // The ids are swapped as well: the live "0" is the recorded "1".
        play.send(c, #"{"type":1,"invocationId":"0","target":"Echo","arguments":["b"]}"#)
        play.expect(c, #"{"type":3,"invocationId":"0","result":"b"}"#)
        play.send(c, #"{"type":1,"invocationId":"1","target":"Echo","arguments":["a"]}"#)
        play.expect(c, #"{"type":3,"invocationId":"1","result":"a"}"#)
        #expect(play.finish().verdict == .pass)
    }

    @Test func aMessageThatWaitsForTimeHoldsBackEverythingAfterIt() throws {
        let play = try Playbook([
            TestTape.session(
                echo + """
                    10 > {"type":1,"invocationId":"0","target":"A","arguments":[]}
                    100 < {"type":1,"target":"Tick","arguments":[]}
                    101 < {"type":3,"invocationId":"0","result":1}
                    """)
        ])
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"0","target":"A","arguments":[]}"#)
        play.pass(ms: 89)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, #"{"type":1,"target":"Tick","arguments":[]}"#)
        play.pass(ms: 1)
        play.expect(c, #"{"type":3,"invocationId":"0","result":1}"#)
    }

    @Test func theGapCountsFromTheLastThingInActualTimeAndIsDividedByTheSpeed() throws {
        let tape = TestTape.session(
            echo + """
                1002 < {"type":1,"target":"One","arguments":[]}
                1010 > {"type":1,"target":"Say","arguments":[]}
                3010 < {"type":1,"target":"Two","arguments":[]}
                """)
        let play = try Playbook([tape], speed: .factor(10))
        let c = try play.start()
        play.pass(ms: 99)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, #"{"type":1,"target":"One","arguments":[]}"#)
        // Two is recorded 2,000 ms after Say, and Say comes late.
        play.pass(ms: 500)
        play.send(c, #"{"type":1,"target":"Say","arguments":[]}"#)
        play.pass(ms: 199)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, #"{"type":1,"target":"Two","arguments":[]}"#)
    }

    @Test func aStreamEndsWithItsOwnIDAndACancelGatesItsOwnChainOnly() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    echo + """
                        10 > {"type":4,"invocationId":"0","target":"Counter","arguments":[9]}
                        11 < {"type":2,"invocationId":"0","item":1}
                        12 < {"type":2,"invocationId":"0","item":2}
                        13 > {"type":5,"invocationId":"0"}
                        14 < {"type":1,"target":"Other","arguments":[]}
                        15 < {"type":3,"invocationId":"0"}
                        """)
            ], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":4,"invocationId":"77","target":"Counter","arguments":[9]}"#)
        play.expect(
            c, #"{"type":2,"invocationId":"77","item":1}"#, #"{"type":2,"invocationId":"77","item":2}"#,
            #"{"type":1,"target":"Other","arguments":[]}"#)
        play.send(c, #"{"type":5,"invocationId":"77"}"#)
        play.expect(c, #"{"type":3,"invocationId":"77"}"#)
        #expect(play.finish().verdict == .pass)
    }

    @Test func uploadsAreMappedByTheirStreamAndGateTheirReply() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    echo + """
                        10 > {"type":1,"invocationId":"2","target":"Sum","arguments":[],"streamIds":["0","1"]}
                        11 > {"type":2,"invocationId":"0","item":1}
                        12 > {"type":2,"invocationId":"1","item":1}
                        13 > {"type":3,"invocationId":"0"}
                        14 > {"type":3,"invocationId":"1"}
                        15 < {"type":3,"invocationId":"2","result":2}
                        """)
            ], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"9","target":"Sum","arguments":[],"streamIds":["7","8"]}"#)
        play.send(c, #"{"type":2,"invocationId":"8","item":1} | {"type":3,"invocationId":"8"}"#)
        play.send(c, #"{"type":2,"invocationId":"7","item":1}"#)
        play.expect(c)
        play.send(c, #"{"type":3,"invocationId":"7","result":null}"#)
        play.expect(c, #"{"type":3,"invocationId":"9","result":2}"#)
        #expect(play.finish().verdict == .pass)
    }

    @Test func theAnswerToAServersRequestGatesTheRepliesAfterIt() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    echo + """
                        10 > {"type":1,"invocationId":"0","target":"Ask","arguments":[]}
                        11 < {"type":1,"invocationId":"s1","target":"Name","arguments":[]}
                        12 > {"type":3,"invocationId":"s1","result":"ada"}
                        13 < {"type":3,"invocationId":"0","result":"ada"}
                        """)
            ], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":1,"invocationId":"0","target":"Ask","arguments":[]}"#)
        play.expect(c, #"{"type":1,"invocationId":"s1","target":"Name","arguments":[]}"#)
        play.pass(ms: 100)
        play.expect(c)
        play.send(c, #"{"type":3,"invocationId":"s1","result":"ada"}"#)
        play.expect(c, #"{"type":3,"invocationId":"0","result":"ada"}"#)
        #expect(play.finish().verdict == .pass)
    }

    @Test func anEndingOfTheServerIsReleasedLikeAPushAndKeptAsItWas() throws {
        for (line, wanted) in [("close 4001 over", "close 4001 over"), ("reset", "RST"), ("disconnect", "FIN")] {
            let play = try Playbook([
                TestTape.session(
                    echo + """
                        10 > {"type":1,"target":"Say","arguments":[]}
                        20 < {"type":7,"error":"bye"}
                        30 < \(line)
                        """)
            ])
            let c = try play.start()
            play.pass(ms: 100)
            play.expect(c)
            play.send(c, #"{"type":1,"target":"Say","arguments":[]}"#)
            play.pass(ms: 60)
            play.expect(c, #"{"type":7,"error":"bye"}"#, wanted)
            let report = play.finish()
            #expect(report.verdict == .pass && report.sessions[0].finished)
            #expect(report.sessions[0].attempts[0].ended?.by == .server)
        }
    }

    @Test func messagesOfOneFrameLeaveTogetherWhenNoneIsHeld() throws {
        let play = try Playbook(
            [
                TestTape.session(
                    """
                    1 > {"protocol":"json","version":1}
                    2 < {} | {"type":1,"target":"A","arguments":[]}
                    3 < {"type":1,"target":"B","arguments":[]} | {"type":1,"target":"C","arguments":[]}
                    """)
            ], speed: .instant)
        let token: String = try #require(play.negotiate())
        let c = play.upgrade(token)
        play.send(c, #"{"protocol":"json","version":1}"#)
        #expect(play.take(c).count == 5)
        #expect(play.frames[c] == 2)
    }

    /// What the client sent when the server had ended the connection is optional: here the two may meet in another order.
    @Test(arguments: [true, false]) func aMessageThatCrossedTheEndIsOptional(comes: Bool) throws {
        var session = TestTape.session(
            TestTape.handshake + "10 < \(push("Tick"))\n200 < close 4000 enough\n202 > \(push("Tock"))")
        session.entries[4].isCrossing = true
        let play = try Playbook([session])
        let c = try play.start()
        play.pass(ms: 150)
        play.expect(c, push("Tick"))
        if comes { play.send(c, push("Tock")) }
        play.pass(ms: 50)
        play.expect(c, "close 4000 enough")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].matched == (comes ? 2 : 1))
    }

    /// It is no place for a message that has to come.
    @Test func aMessageThatCrossedTheEndTakesNoOthersPlace() throws {
        var session = TestTape.session(
            TestTape.handshake
                + "10 < disconnect\n12 > \(push("Tock"))\n30 > \(push("Tock"))\n40 < \(push("Done"))")
        session.entries[3].isCrossing = true
        let play = try Playbook([session])
        let c = try play.start()
        play.pass(ms: 50)
        play.expect(c, "FIN")
        let back = try play.start()
        play.send(back, push("Tock"))
        play.pass(ms: 20)
        play.expect(back, push("Done"))
        #expect(play.finish().verdict == .pass)
    }
}
