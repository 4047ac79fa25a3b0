import Testing
import WiretapeAttempts
import WiretapeFaults
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// What rules do to messages of a replay.
@Suite struct MessageFaultTests {
    private let ticks = TestTape.session(
        TestTape.handshake
            + (1...6).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }.joined(separator: "\n"))

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    private func run(_ rules: String..., ms: UInt64 = 2_000) throws -> (got: [String], report: ReplayReport) {
        let play = try Playbook([ticks], faults: rules)
        let c = try play.start()
        play.pass(ms: ms)
        return (play.take(c), play.finish())
    }

    @Test func droppedDuplicatedReplacedInjectedAndSwapped() throws {
        let cases: [(rules: [String], wanted: [String])] = [
            (["drop on Tick[2]"], [1, 3, 4, 5, 6].map(tick)),
            (["duplicate(2) on Tick[2]"], [1, 2, 2, 2, 3, 4, 5, 6].map(tick)),
            (["reorder on Tick[2]"], [1, 3, 2, 4, 5, 6].map(tick)),
            (["reorder(2) on Tick[1]"], [2, 3, 1, 4, 5, 6].map(tick)),
            (["reorder(9, 45ms) on Tick[1]"], [2, 3, 4, 5, 1, 6].map(tick)),
            (
                ["replace(/arguments/0=\"x\") on Tick[2]"],
                [tick(1), #"{"type":1,"target":"Tick","arguments":["x"]}"#] + (3...6).map(tick)
            ),
            (["replace(\"no JSON\") on Tick[2]"], [tick(1), "no JSON"] + (3...6).map(tick)),
            (["inject(\"{\\\"type\\\":6}\") after Tick[2]"], [tick(1), tick(2), #"{"type":6}"#] + (3...6).map(tick)),
            (["inject(\"{\\\"type\\\":6}\") before Tick[2]"], [tick(1), #"{"type":6}"#] + (2...6).map(tick)),
            (
                ["inject(\"{\\\"type\\\":6}\") since handshake=25ms"],
                [tick(1), tick(2), #"{"type":6}"#] + (3...6).map(tick)
            ),
            (["drop on Tick[2]", "duplicate on Tick[3]"], [1, 3, 3, 4, 5, 6].map(tick)),
            (["drop on message[regex=\"\\\\[[35]\\\\]\"]"], [1, 2, 4, 6].map(tick)),
        ]
        for one in cases {
            let play = try Playbook([ticks], faults: one.rules)
            let c = try play.start()
            play.pass(ms: 2_000)
            let got = play.take(c)
            #expect(got == one.wanted, "\(one.rules): \(got)")
            let report = play.finish()
            #expect(report.exitCode == 0 && report.sessions[0].finished, "\(one.rules): \(report.reasons)")
            #expect(Set(report.faults.map(\.rule)).count == one.rules.count)
        }
    }

    @Test func aDelayKeepsOrderAndDoesNotMoveWhatComesLater() throws {
        let play = try Playbook([ticks], faults: ["delay(25ms) on Tick[2]"])
        let c = try play.start()
        play.pass(ms: 19)
        play.expect(c, tick(1))
        play.pass(ms: 22)
        play.expect(c)
        play.pass(ms: 3)
        play.expect(c, tick(2), tick(3), tick(4))
        play.pass(ms: 9)
        play.expect(c, tick(5))
        #expect(play.finish().faults.map(\.action) == ["delay(25ms)"])
    }

    @Test func keepalivesPassWhatIsHeld() throws {
        let play = try Playbook([ticks], faults: ["delay(40s) on Tick[2]"])
        let c = try play.start()
        play.pass(ms: 35_000)
        play.expect(c, tick(1), #"{"type":6}"#, #"{"type":6}"#)
        play.pass(ms: 6_000)
        #expect(play.take(c).contains(tick(6)))
        let named = try Playbook([ticks], faults: ["drop on Ping[2]", "delay(1s) on Ping[1]"])
        let d = try named.start()
        named.pass(ms: 15_500)
        #expect(named.take(d).last == tick(6))
        named.pass(ms: 1_000)
        named.expect(d, #"{"type":6}"#)
        named.pass(ms: 15_000)
        named.expect(d)
        named.pass(ms: 15_000)
        named.expect(d, #"{"type":6}"#)
    }

    @Test func headersAreDamagedOnEachTransport() throws {
        let play = try Playbook([ticks], faults: ["corrupt(rsv) on Tick[1]", "corrupt(length) on Tick[2]"])
        let c = try play.start()
        play.pass(ms: 21)
        let raw = play.take(c)
        #expect(raw.count == 2 && raw[0].hasPrefix("raw a1") && raw[1].hasPrefix("raw 81"))
        let events = try Playbook([ticks], faults: ["corrupt(length) on Tick[1]", "corrupt(rsv) on Tick[2]"])
        let (_, stream) = try events.startStream()
        events.pass(ms: 11)
        let chunk = events.take(stream)
        #expect(chunk.count == 1 && chunk[0].hasPrefix("raw "))
        #expect(events.finish().unfired.map(\.rule) == ["corrupt(rsv) on Tick[2]"])
        let polls = try Playbook([ticks], faults: ["corrupt(length) on Tick[1]"])
        let (_, poll) = try polls.startPolling()
        polls.pass(ms: 11)
        let answer = polls.take(poll).first ?? ""
        #expect(
            answer.hasPrefix("raw ")
                && answer.contains(hexText(Array("Content-Length: \(tick(1).utf8.count + 2)\r\n".utf8))), "\(answer)")
    }

    @Test func aMessageGoesOutInFrames() throws {
        let (got, report) = try run("fragment(20) on Tick[2]")
        let frames = "frames of at most 20"
        #expect(Array(got.prefix(4)) == [tick(1), frames, tick(2), tick(3)])
        #expect(report.exitCode == 0 && report.faults.count == 1)
        let (late, _) = try run("fragment(20) + reorder on Tick[2]")
        #expect(Array(late.prefix(4)) == [tick(1), tick(3), frames, tick(2)])
        let (end, _) = try run("fragment(20) + reset on Tick[2]")
        #expect(end == [tick(1), frames, tick(2), "RST"])
    }

    /// Replay sends a message in its recorded frames.
    @Test func recordedFramesArePlayed() throws {
        var session = ticks
        session.entries[3].frameSizes = [4, 0, 60]
        let play = try Playbook([session])
        let c = try play.start()
        play.pass(ms: 21)
        play.expect(c, tick(1), "frames of [4, 0, 60]", tick(2))
        // Also the last message before an ending, and not a part of a message.
        var ended = TestTape.session(
            TestTape.handshake + "10 < \(tick(1)) | \(tick(2))\n20 < \(tick(3))\n21 < close 1000")
        for i in 2...4 { ended.entries[i].frameSizes = [8, 60] }
        for (i, frame) in [(2, 2), (3, 2), (4, 3), (5, 3)] { ended.entries[i].frame = frame }
        let last = try Playbook([ended], faults: ["delay(1ms) on Tick[1]"])
        let e = try last.start()
        last.pass(ms: 100)
        #expect(last.take(e) == [tick(1), tick(2), "frames of [8, 60]", tick(3), "close 1000"])
        let plain = try Playbook([session], faults: ["truncate(3) on Tick[2]"])
        let d = try plain.start()
        plain.pass(ms: 21)
        #expect(plain.take(d).contains { $0.hasPrefix("frames") } == false)
    }

    @Test func payloadsAreDamaged() throws {
        for damage in ["bits=3", "bytes=2", "utf8", "json"] {
            let (got, report) = try run("corrupt(\(damage)) on Tick[2]")
            #expect(got.count == 6 && got[1] != tick(2) && got[2] == tick(3), "\(damage): \(got)")
            #expect(report.exitCode == 0)
            let (again, _) = try run("corrupt(\(damage)) on Tick[2]")
            #expect(again == got)
        }
    }

    @Test func aMessageIsCutInTheMiddle() throws {
        for (rule, end) in [("truncate(2) + reset on Tick[2]", "RST"), ("truncate(2) on Tick[2]", "FIN")] {
            let play = try Playbook([ticks], faults: [rule])
            let c = try play.start()
            play.pass(ms: 100)
            play.expect(c, tick(1), "limit 2", tick(2), end)
            let d = try play.start()
            play.pass(ms: 100)
            // The client has not had the whole of it.
            #expect(play.take(d) == (2...6).map(tick))
            #expect(play.finish().sessions[0].attempts[0].ended?.by == .fault(rule))
        }
        let polls = try Playbook([ticks], faults: ["truncate(20) + reset on Tick[2]"])
        let (_, poll) = try polls.startPolling()
        polls.pass(ms: 11)
        #expect(polls.take(poll) == [Playbook.body(tick(1))])
        polls.poll(polls.lastToken, on: poll)
        polls.pass(ms: 100)
        #expect(polls.take(poll) == ["limit 20", Playbook.body(tick(2)), "RST"])
    }

    @Test func clientMessagesAreDroppedAndLate() throws {
        let tape = TestTape.session(
            TestTape.handshake + """
                10 > {"type":1,"invocationId":"1","target":"Say","arguments":[1]}
                11 < {"type":3,"invocationId":"1","result":null}
                12 > {"type":1,"invocationId":"2","target":"Say","arguments":[2]}
                13 < {"type":3,"invocationId":"2","result":null}
                14 < {"type":1,"target":"Tick","arguments":[1]}
                """)
        let dropped = try Playbook([tape], speed: .instant, faults: ["drop on Say[1]"])
        let c = try dropped.start()
        dropped.send(c, #"{"type":1,"invocationId":"1","target":"Say","arguments":[1]}"#)
        dropped.send(c, #"{"type":1,"invocationId":"2","target":"Say","arguments":[2]}"#)
        dropped.pass(ms: 10)
        dropped.expect(c, #"{"type":3,"invocationId":"2","result":null}"#, tick(1))
        let report = dropped.finish()
        #expect(report.verdict == .pass && report.sessions[0].missing.isEmpty, "\(report.reasons)")
        // The client tries again after a while.
        let again = try Playbook([tape], speed: .instant, faults: ["drop on Say[1]"])
        let d = try again.start()
        again.send(d, #"{"type":1,"invocationId":"1","target":"Say","arguments":[1]}"#)
        again.send(d, #"{"type":1,"invocationId":"7","target":"Say","arguments":[1]}"#)
        again.pass(ms: 10)
        again.expect(d, #"{"type":3,"invocationId":"7","result":null}"#)
        let late = try Playbook([tape], speed: .instant, faults: ["delay(500ms) on Say[1]"])
        let e = try late.start()
        late.send(e, #"{"type":1,"invocationId":"1","target":"Say","arguments":[1]}"#)
        late.send(e, #"{"type":1,"invocationId":"2","target":"Say","arguments":[2]}"#)
        late.pass(ms: 499)
        late.expect(e)
        late.pass(ms: 2)
        #expect(late.take(e).count == 3)
        #expect(late.finish().verdict == .pass)
    }

    @Test func whatNeedsAServerIsRefusedForReplay() throws {
        var plan = FaultPlan()
        for rule in [
            "duplicate on X[direction=toServer]", "drop on X[direction=toServer]", "corrupt on subscribe",
            "duplicate on X",
        ] {
            plan.append(try FaultRule(parsing: rule, from: RuleSource(file: "--fault")))
        }
        #expect(
            plan.problemsInReplay.map(\.description) == [
                "--fault: 1:14: 'duplicate' on messages to the server needs a server, and a replay has none",
                "--fault: 1:12: 'corrupt' on messages to the server needs a server, and a replay has none",
            ])
    }

    @Test func endingsOfTheTape() throws {
        let tape = TestTape.session(
            TestTape.handshake + #"10 < {"type":1,"target":"Tick","arguments":[1]}"# + "\n20 < close 1001 bye")
        for (rule, wanted) in [
            ("reset on close[by=server]", "RST"), ("close(4000) on close[code=1001]", "close 4000"),
            ("disconnect before close", "FIN"), ("drop on close", nil), ("delay(5ms) on close", "close 1001 bye"),
        ] as [(String, String?)] {
            let play = try Playbook([tape], faults: [rule])
            let c = try play.start()
            play.pass(ms: 100)
            #expect(play.take(c) == [tick(1)] + (wanted.map { [$0] } ?? []), "\(rule)")
            #expect(play.finish().faults.count == 1)
        }
    }
}
