import Foundation
import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// The same seed, plan and tape give the same firings and the same digest, alone and among 64 others, in whatever order the
/// clients come. `WIRETAPE_RUNS=1000` makes it as many runs.
@Suite struct FaultDeterminismTests {
    private static let runs = Int(ProcessInfo.processInfo.environment["WIRETAPE_RUNS"] ?? "") ?? 12

    private static let rules = [
        "delay(1ms..30ms) on Tick p=0.3", "drop on Tick p=0.1", "duplicate on Tick[every 4] p=0.5",
        "corrupt(bits=2) on Tick p=0.1", "reset after Tick p=0.05 max=2", "respond(503) on connect[retry=1..3] p=0.5",
    ]

    private func tape(_ sessions: Int) -> [RecordedSession] {
        (1...sessions).map { n in
            let pushes = (1...12).map { #"\#($0 * 10) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }
            return TestTape.session(TestTape.handshake + pushes.joined(separator: "\n"), number: n, route: "/hub\(n)")
        }
    }

    /// Every client comes back until its session is over. The order in which they act is drawn.
    private func run(_ sessions: Int, order seed: UInt64) throws -> (
        digest: String, firings: [[String]], got: [[String]]
    ) {
        let play = try Playbook(tape(sessions), faults: Self.rules, seed: 77)
        var random = SplitMix64(seed: seed)
        var got = Array(repeating: [String](), count: sessions)
        var current: [ConnectionID?] = Array(repeating: nil, count: sessions)
        for _ in 1...16 {
            var waiting = Array(0..<sessions)
            while !waiting.isEmpty {
                let n = waiting.remove(at: random.below(waiting.count))
                if let c = current[n] {
                    let more = play.take(c)
                    got[n] += more
                    guard more.contains("RST") else { continue }
                }
                play.host = "10.0.1.\(n)"
                guard let token = play.negotiate("/hub\(n + 1)") else {
                    got[n] += play.take(play.refused)
                    current[n] = play.refused
                    got[n].append("RST")
                    continue
                }
                let c = play.upgrade(token, "/hub\(n + 1)")
                play.send(c, #"{"protocol":"json","version":1}"#)
                current[n] = c
            }
            play.pass(ms: 400)
            for n in 0..<sessions
            where got[n].last == "RST" && current[n].map({ play.answers[$0]?.status == 503 }) ?? false {
                current[n] = nil
                got[n].removeLast()
            }
        }
        let report = play.finish()
        let firings = (1...sessions).map { n in
            report.faults.filter { $0.session == n }.map { "\($0.rule) \($0.message ?? 0) \($0.attempt)" }
        }
        return (report.digest, firings, got)
    }

    @Test func aloneAndAmongOthers() throws {
        let alone = try run(1, order: 1)
        #expect(alone.firings[0].count > 3)
        let crowd = try run(64, order: 1)
        #expect(crowd.firings[0] == alone.firings[0] && crowd.got[0] == alone.got[0])
        #expect(Set(crowd.firings.map { $0.joined() }).count > 32, "sessions draw for themselves")
        for order in 2..<UInt64(max(3, Self.runs / 6)) {
            let again = try run(64, order: order)
            #expect(again.digest == crowd.digest && again.firings == crowd.firings && again.got == crowd.got)
        }
    }

    @Test func againAndAgain() throws {
        let first = try run(1, order: 1)
        for _ in 0..<Self.runs {
            let again = try run(1, order: 1)
            #expect(again.digest == first.digest && again.firings == first.firings && again.got == first.got)
        }
    }
}
