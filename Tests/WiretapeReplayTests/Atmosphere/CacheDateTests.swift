import Testing
import WiretapeCodecs
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Servers of 2.0 tell clients the time of what they have, and clients say it with the next poll.
@Suite struct CacheDateTests {
    private static let id = AtmosphereTape.id

    /// Polls without padding and lengths, each with the time of its message.
    private static let tape: String = {
        var lines = [#"{"tape":1}"#]
        func poll(_ t: Int, _ x: Int, id: String, _ body: String, date: Int?) {
            let target = AtmosphereTape.target("long-polling", id: id, lengths: false) + "&X-Cache-Date=0"
            let stamp = date.map { #",["X-Cache-Date","\#($0)"]"# } ?? ""
            lines.append(
                #"{"t":\#(t)000000,"c":1,"e":"request","x":\#(x),"method":"GET","target":"\#(target)","headers":[]}"#)
            lines.append(
                #"{"t":\#(t)000000,"c":1,"e":"response","x":\#(x),"status":200,"headers":[["X-Atmosphere-tracking-id","\#(Self.id)"]\#(stamp)],"text":"\#(body)"}"#
            )
        }
        poll(0, 1, id: "0", "\(id)|1795199865770", date: nil)
        for (i, text) in ["one", "two", "three"].enumerated() {
            poll(10 * (i + 1), i + 2, id: id, text, date: 7_000 + 50 * i)
        }
        return lines.joined(separator: "\n") + "\n"
    }()

    private func poll(_ play: Playbook, date: String, on c: ConnectionID? = nil) -> ConnectionID {
        let target = AtmosphereTape.target("long-polling", id: Self.id, lengths: false) + "&X-Cache-Date=\(date)"
        guard let c else { return play.request("GET", target) }
        play.ask(c, "GET", target)
        return c
    }

    @Test func aPollSaysWhatItsClientHas() throws {
        let play = try Playbook(AtmosphereTape.sessions(tape: Self.tape))
        let c = play.atmosphere("long-polling", lengths: false)
        // Without padding the head waits for data, and the generation's handshake is kept.
        play.expect(c, "200 \(Self.id)|1795199865770")
        #expect(play.answers[c]?.headers.first("X-Cache-Date") == nil)
        #expect(play.answers[c]?.headers.first("X-Atmosphere-first-request") == nil)
        _ = poll(play, date: "0", on: c)
        play.expect(c)
        play.pass(ms: 10)
        play.expect(c, "200 one")
        #expect(play.answers[c]?.headers.first("X-Cache-Date") == "7001")
        play.pass(ms: 50)
        _ = poll(play, date: "7001", on: c)
        play.expect(c, "200 two")
        #expect(play.answers[c]?.headers.first("X-Cache-Date") == "7002")
        // That answer was lost on its way: the client still has what it had.
        play.close(c, .rst("cut"))
        let back = poll(play, date: "7001")
        play.pass(ms: 50)
        play.expect(back, "200 two")
        _ = poll(play, date: "7002", on: back)
        play.expect(back, "200 three")
        let report = play.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
    }
}
