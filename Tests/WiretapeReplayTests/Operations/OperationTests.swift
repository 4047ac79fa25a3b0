import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Requests that are one message of the client, served over the transport that they were recorded over.
@Suite struct OperationTests {
    private static let tick = OperationTape.tick

    @Test func aMultipartAnswerIsWrittenPartByPart() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.multipart))
        let c = play.operate("multipart", Self.tick)
        play.expect(c, "200 …")
        let head = try #require(play.answers[c])
        #expect(head.headers.first("Content-Type") == "multipart/mixed;boundary=graphql;subscriptionSpec=1.0")
        #expect(head.headers.first("X-Own") == "1")
        #expect(head.body == Array("\r\n--graphql".utf8))
        play.pass(ms: 9)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, Playbook.part(#"{"payload":{"data":{"tick":1}}}"#))
        play.pass(ms: 40)
        play.expect(
            c, Playbook.part(#"{"payload":{"data":{"tick":2}}}"#), Playbook.part(#"{"payload":{"data":{"tick":3}}}"#),
            "--\r\n", "end")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions.count == 1)
        #expect(report.sessions[0].finished && report.sessions[0].transports == [.multipart])
        #expect(report.sessions[0].attempts[0].steps.map(\.request) == ["operation"])
    }

    /// A client that cannot read what its server writes is to fail in the replay, too.
    @Test(arguments: [
        (#"multipart/mixed;boundary="graphql";subscriptionSpec=1.0"#, OperationTape.accept["multipart"]!),
        ("multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json", "multipart/mixed"),
        (#"multipart/mixed; boundary="graphql"; subscriptionSpec="1.0""#, "multipart/mixed;subscriptionSpec=1.0"),
    ])
    func theHeadIsTheRecordedOne(_ recorded: String, _ accept: String) throws {
        var sessions = OperationTape.sessions(OperationTape.multipart)
        sessions[0].opening.response?.headers = [HeaderField("Content-Type", recorded)]
        let play = try Playbook(sessions)
        let c = play.operate(accept, Self.tick)
        #expect(play.answers[c]?.headers.first("Content-Type") == recorded)
    }

    @Test func anEventStreamEndsAfterComplete() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.sse))
        let c = play.operate("sse", Self.tick)
        play.pass(ms: 50)
        play.expect(
            c, "200 …", Playbook.next(#"{"data":{"tick":1}}"#), Playbook.next(#"{"data":{"tick":2}}"#),
            Playbook.next(#"{"data":{"tick":3}}"#), Playbook.done, "end")
        #expect(play.finish().verdict == .pass)
    }

    @Test func aSingleAnswerTakesAsLongAsRecorded() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.hello))
        let c = play.operate("json", #"{"query":"query Hello{hello}","variables":{}}"#)
        play.pass(ms: 9)
        play.expect(c)
        play.pass(ms: 1)
        play.expect(c, #"200 {"data":{"hello":"ada"}}"#)
        #expect(play.answers[c]?.headers.first("Content-Type") == "application/json")
        #expect(play.answers[c]?.headers.first("X-Own") == "1")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    @Test func spellingDoesNotMatterAndVariablesDo() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.multipart + "\n" + OperationTape.hello))
        let other = play.operate("multipart", Self.tick.replacing("\"n\":3", with: "\"n\":4"))
        play.expect(
            other,
            #"409 {"errors":[{"message":"wiretape: diverged at subscribe OnTick(n: 4): not on chat.tape"}]}"#)
        #expect(play.logs.count == 1 && play.logs[0].contains("/payload/variables/n"))
        #expect(play.logs[0].contains("--ignore 'OnTick:/payload/variables/n'"))
        let same = play.operate(
            "multipart",
            "{\"variables\" : {\"n\":3.0},\n\"operationName\":\"OnTick\", \"query\":\"subscription OnTick($n:Int){\\n  tick(n:$n)\\n}\"}"
        )
        play.pass(ms: 10)
        #expect(play.take(same).count == 2)
        #expect(play.finish().exitCode == 2)
    }

    /// What differs stands for the operation that it is most like, and takes it from nobody.
    @Test(arguments: [OnDivergence.warn, .ignore])
    func anotherVariableTakesNoAnswerAway(_ way: OnDivergence) throws {
        func asked(_ name: String) -> String {
            #"{"query":"query Hello($n:String,$m:Int){hello(name:$n,m:$m)}","variables":{"n":"\#(name)","m":1}}"#
        }
        func answered(_ name: String) -> String { #"{"data":{"hello":"\#(name)"}}"# }
        let tape = """
            0 1 POST json \(asked("ada"))
            10 1 json \(answered("ada"))
            20 2 POST json \(asked("bob"))
            30 2 json \(answered("bob"))
            """
        let play = try Playbook(OperationTape.sessions(tape)) { $0.onDivergence = way }
        for (name, wanted) in [("eve", "ada"), ("ada", "ada"), ("bob", "bob")] {
            let c = play.operate("json", asked(name))
            play.pass(ms: 10)
            play.expect(c, "200 \(answered(wanted))")
        }
        // Each is there once.
        for name in ["ada", "bob", "mallory"] {
            let c = play.operate("json", asked(name))
            #expect(play.take(c).first?.hasPrefix(#"409 {"errors":[{"message":"wiretape: diverged at "#) == true)
        }
        let report = play.finish()
        #expect(report.sessions.map(\.unexpected.count) == [1, 0, 0] && report.sessions.allSatisfy { $0.finished })
    }

    @Test func whatWasAskedOnceIsAnsweredOnce() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.hello))
        let hello = #"{"query":"query Hello { hello }"}"#
        let first = play.operate("json", hello)
        play.pass(ms: 10)
        #expect(play.take(first).count == 1)
        #expect(play.take(play.operate("json", hello)).first?.hasPrefix("409 ") == true)
        #expect(play.logs[0].contains("was asked once on chat.tape and came once more"))
        let again = try Playbook(OperationTape.sessions(OperationTape.hello)) { $0.whenExhausted = .repeat }
        for _ in 0..<3 {
            let c = again.operate("json", hello)
            again.pass(ms: 10)
            again.expect(c, #"200 {"data":{"hello":"ada"}}"#)
        }
        #expect(again.finish().sessions.map(\.run) == [1, 2, 3])
    }

    @Test(arguments: [
        (ReplayOptions.OnReconnect.resume, [2, 3]), (.lose(1), [3]), (.rewind(1), [1, 2, 3]), (.restart, [1, 2, 3]),
    ])
    func aReconnectInTheMiddleGoesOn(_ policy: ReplayOptions.OnReconnect, _ wanted: [Int]) throws {
        for tape in [OperationTape.multipart, OperationTape.sse, OperationTape.socket] {
            let play = try Playbook(OperationTape.sessions(tape)) { $0.onReconnect = policy }
            let first = play.operate("sse", Self.tick)
            play.pass(ms: 10)
            #expect(play.take(first).count == 2)
            play.close(first, .rst("gone"))
            play.pass(ms: 1_000)
            let second = play.operate("sse", Self.tick)
            play.pass(ms: 60)
            play.expect2(
                second,
                ["200 …"] + wanted.map { Playbook.next("{\"data\":{\"tick\":\($0)}}") } + [Playbook.done, "end"])
            let report = play.finish()
            #expect(report.verdict == .pass && report.sessions[0].attempts.count == 2)
            #expect(report.sessions[0].finished)
        }
    }

    @Test func underLiveTheTapeRunsOn() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.multipart)) { $0.onReconnect = .live }
        let first = play.operate("multipart", Self.tick)
        play.pass(ms: 10)
        #expect(play.take(first).count == 2)
        play.close(first)
        play.pass(ms: 15)
        let second = play.operate("multipart", Self.tick)
        play.pass(ms: 20)
        // The second result was due without a connection.
        play.expect(second, "200 …", Playbook.part(#"{"payload":{"data":{"tick":3}}}"#), "--\r\n", "end")
    }

    @Test func aReconnectMayBeRefused() throws {
        let play = try Playbook(OperationTape.sessions(OperationTape.sse)) { $0.onReconnect = .refuse }
        let first = play.operate("sse", Self.tick)
        play.pass(ms: 10)
        play.close(first)
        #expect(play.take(play.operate("sse", Self.tick)).first?.hasPrefix("404 ") == true)
    }

    @Test func aClientThatLeavesAsRecordedHasCancelled() throws {
        let tape = """
            0 1 POST sse \(Self.tick)
            10 1 event next {"data":{"tick":1}}
            20 1 left
            """
        let play = try Playbook(OperationTape.sessions(tape))
        let c = play.operate("sse", Self.tick)
        play.pass(ms: 15)
        play.expect(c, "200 …", Playbook.next(#"{"data":{"tick":1}}"#))
        play.close(c)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished && report.sessions[0].missing.isEmpty)
        // One that stays is waited for.
        let other = try Playbook(OperationTape.sessions(tape))
        let stays = other.operate("sse", Self.tick)
        other.pass(ms: 31_000)
        #expect(other.take(stays).last == "FIN")
        #expect(other.finish().verdict == .diverged)
    }

    @Test func aClientThatHasTheWholeAnswerMayLeaveBeforeItsEnd() throws {
        let play = try Playbook(
            OperationTape.sessions(
                """
                0 1 POST sse \(Self.tick)
                10 1 event next {"data":{"tick":1}}
                20 1 event complete
                30 1 end
                """))
        let c = play.operate("sse", Self.tick)
        play.pass(ms: 25)
        play.expect(c, "200 …", Playbook.next(#"{"data":{"tick":1}}"#), Playbook.done)
        play.close(c)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    /// What `live` left out on the way is not owed.
    @Test func aClientThatCameBackMayLeaveBeforeTheEnd() throws {
        let tape = """
            0 1 POST sse \(Self.tick)
            10 1 event next {"data":{"tick":1}}
            50 1 event next {"data":{"tick":2}}
            100 1 event next {"data":{"tick":3}}
            140 1 event complete
            200 1 end
            """
        let play = try Playbook(OperationTape.sessions(tape)) { $0.onReconnect = .live }
        let first = play.operate("sse", Self.tick)
        play.pass(ms: 10)
        play.expect(first, "200 …", Playbook.next(#"{"data":{"tick":1}}"#))
        play.close(first, .rst("gone"))
        play.pass(ms: 60)
        let second = play.operate("sse", Self.tick)
        play.pass(ms: 80)
        play.expect(second, "200 …", Playbook.next(#"{"data":{"tick":3}}"#), Playbook.done)
        play.close(second)
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished)
    }

    @Test func recordedCutsAreCuts() throws {
        let play = try Playbook(
            OperationTape.sessions(
                """
                0 1 POST multipart \(Self.tick)
                10 1 part {"payload":{"data":{"tick":1}}}
                20 1 reset
                30 2 POST multipart \(Self.tick)
                40 2 part {"payload":{"data":{"tick":2}}}
                50 2 close
                """))
        let first = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        play.expect(first, "200 …", Playbook.part(#"{"payload":{"data":{"tick":1}}}"#), "RST")
        let second = play.operate("multipart", Self.tick)
        play.pass(ms: 60)
        play.expect(second, "200 …", Playbook.part(#"{"payload":{"data":{"tick":2}}}"#), "--\r\n", "end")
        #expect(play.finish().sessions.map(\.session) == [1, 2])
    }

    @Test func faultsMeetOperations() throws {
        let play = try Playbook(
            OperationTape.sessions(OperationTape.sse), faults: ["respond(503) on operation[1]", "reset after next[2]"])
        play.expect(play.operate("sse", Self.tick), "503 ")
        let c = play.operate("sse", Self.tick)
        play.pass(ms: 100)
        play.expect(c, "200 …", Playbook.next(#"{"data":{"tick":1}}"#), Playbook.next(#"{"data":{"tick":2}}"#), "RST")
        let last = play.operate("sse", Self.tick)
        play.pass(ms: 100)
        play.expect(last, "200 …", Playbook.next(#"{"data":{"tick":3}}"#), Playbook.done, "end")
        let report = play.finish()
        #expect(report.verdict == .pass && report.faults.count == 2 && report.sessions.count == 1)
        #expect(report.sessions[0].attempts.map(\.retry) == [0, 1, 1])
    }

    @Test func keepalivesAreThoseOfTheCarrier() throws {
        let tape = "0 1 POST multipart \(Self.tick)\n60000 1 part {\"payload\":{\"data\":{\"tick\":1}}}"
        let play = try Playbook(OperationTape.sessions(tape))
        let c = play.operate("multipart", Self.tick)
        play.pass(ms: 5_001)
        play.expect(c, "200 …", Playbook.part("{}"))
        let events = try Playbook(OperationTape.sessions(tape))
        let stream = events.operate("sse", Self.tick)
        events.pass(ms: 12_001)
        events.expect(stream, "200 …", ":\n\n")
    }
}

extension Playbook {
    /// As `expect`, of a list.
    fileprivate func expect2(_ c: ConnectionID, _ wanted: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        let actual = take(c)
        #expect(actual == wanted, sourceLocation: sourceLocation)
    }
}
