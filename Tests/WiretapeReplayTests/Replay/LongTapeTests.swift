import Testing
import WiretapeCore

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
}
