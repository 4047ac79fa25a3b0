import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeSimulation

/// Long tapes cost time in proportion to their length.
@Suite struct LongTapeTests {
    @Test func manyMessagesOfEveryKind() throws {
        var script = TestTape.handshake
        var time = 10
        let n = 1_000
        script += #"\#(time) > {"type":4,"invocationId":"stream","target":"Counter","arguments":[]}"# + "\n"
        script += #"\#(time) > {"type":1,"invocationId":"up","target":"Sum","arguments":[],"streamIds":["u"]}"# + "\n"
        for i in 0..<n {
            time += 1
            script += #"\#(time) > {"type":1,"invocationId":"\#(i)","target":"Echo","arguments":[\#(i)]}"# + "\n"
            script += #"\#(time) > {"type":2,"invocationId":"u","item":\#(i)}"# + "\n"
            script += #"\#(time) < {"type":1,"invocationId":"s\#(i)","target":"Ask","arguments":[]}"# + "\n"
            script += #"\#(time) < {"type":2,"invocationId":"stream","item":\#(i)}"# + "\n"
            script += #"\#(time) > {"type":3,"invocationId":"s\#(i)","result":\#(i)}"# + "\n"
            script += #"\#(time) < {"type":3,"invocationId":"\#(i)","result":\#(i)}"# + "\n"
        }
        let play = try Playbook([TestTape.session(script)], speed: .instant)
        let c = try play.start()
        play.send(c, #"{"type":4,"invocationId":"stream","target":"Counter","arguments":[]}"#)
        play.send(c, #"{"type":1,"invocationId":"up","target":"Sum","arguments":[],"streamIds":["u"]}"#)
        for i in 0..<n {
            play.send(c, #"{"type":1,"invocationId":"\#(i)","target":"Echo","arguments":[\#(i)]}"#)
            play.send(c, #"{"type":2,"invocationId":"u","item":\#(i)}"#)
            play.send(c, #"{"type":3,"invocationId":"s\#(i)","result":\#(i)}"#)
        }
        #expect(play.take(c).count == n * 3)
        #expect(play.finish().sessions[0].finished)
    }

    /// What is read again from the tape when it is sent, or when its session is asked for, is sent as if it had been kept:
    /// every byte at the same time.
    @Test(arguments: [
        "chat", "everything", "reconnect", "skip-negotiation", "messagepack", "pysignalr", "signalrcore", "stateful",
        "stateful-messagepack",
    ])
    func whatIsReadAgainIsTheSame(_ name: String) throws {
        let (sessions, events) = try Recordings.read(name)
        var habits = ClientHabits()
        habits.negotiateVersion = sessions[0].negotiate == nil ? nil : 1
        let kept = MutationRun(name, sessions, habits)
        #expect(kept.report.sessions.contains { $0.matched > 1 })
        var names: [String: Int] = [:]
        for isCold in [false, true] {
            let again = sessions.map { session in
                var builder = ScriptBuilder(session, ignore: [])
                for entry in session.entries { builder.add(entry) }
                var bare = session
                bare.entries = []
                guard isCold, builder.canBeCold else { return builder.finish(bare, from: events) }
                return builder.cold(names: &names).finish(bare, from: events, names: [:])
            }
            let run = MutationRun(name, sessions, habits, played: again)
            #expect(run.stage.digest.value == kept.stage.digest.value, "\(isCold ? "cold" : "read again")")
            #expect(run.report == kept.report)
        }
    }

    /// How its client begins is known when the tape has been read: the first client does not wait until all that the others
    /// began with has been read and hashed.
    @Test(arguments: ["chat", "reconnect", "skip-negotiation", "messagepack", "stateful"])
    func whatIsReadAgainIsKnownByItsBeginning(_ name: String) throws {
        let (sessions, events) = try Recordings.read(name)
        for session in sessions {
            var builder = ScriptBuilder(session, ignore: [])
            for entry in session.entries { builder.add(entry) }
            var bare = session
            bare.entries = []
            let known = try #require(builder.finish(bare, from: events).digested.openingFingerprint)
            #expect(known == OpeningFingerprint(session, ignore: []))
            #expect(known.first != nil)
        }
    }
}
