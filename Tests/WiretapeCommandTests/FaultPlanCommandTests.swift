import Foundation
import Testing

/// Plans that cannot be meant end with exit 64 and say where, and what was meant.
@Suite(.waitsForPrograms) struct FaultPlanCommandTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func load(_ plan: String) throws -> Binary.Run {
        let path = scratch.path("plan.yaml")
        try plan.write(toFile: path, atomically: true, encoding: .utf8)
        return try Binary.run("replay", TapeFiles.recording("chat"), "--faults", path, "--until", "idle:1ms")
    }

    @Test(arguments: [
        (
            "rules:\n  - { wehn: { at: connect }, do: reset }",
            "plan.yaml:2:7: a rule has no 'wehn'; did you mean 'when'?"
        ),
        ("rules:\n  - delay(20 ms..10) on Tick", "plan.yaml:2:11: '20 ms..10' is not a range such as 20ms..200ms"),
        ("rules:\n  - stall(both, 5) after Tick", "plan.yaml:2:17: '5' is not a duration such as 250ms, 2s or 1m"),
        (
            "rules:\n  - { name: a, when: { at: connect }, do: drop }",
            "plan.yaml:2:28: rule 'a': drop is for messages, and 'connect' is none; use stall or disconnect"
        ),
        ("rules:\n  - reset + drop on Tick", "plan.yaml:2:5: nothing can follow 'reset': it ends the connection"),
        (
            "rules:\n  - { when: { at: message, probability: -0.5 }, do: drop }",
            "plan.yaml:2:41: '-0.5' is not a probability from 0 to 1"
        ),
        (
            "rules:\n  - { when: { at: message, probability: nan }, do: drop }",
            "plan.yaml:2:41: 'nan' is not a probability from 0 to 1"
        ),
        ("rules: [*x]", "plan.yaml:1:9: anchors and aliases are not read"),
        ("a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nrules: *c", "plan.yaml:1:4: anchors and aliases are not read"),
        (
            "rules:\n  - corrupt on Tick[direction=toServer]",
            "plan.yaml:2:16: 'corrupt' on messages to the server needs a server, and a replay has none"
        ),
        (
            "rules:\n  - refuse on accept[attempt=2]",
            "plan.yaml:2:15: 'accept' is before any request: nobody knows its session or attempt"
        ),
    ])
    func nonsense(_ plan: String, _ wanted: String) throws {
        let run = try load(plan)
        #expect(run.code == 64 && run.verdict.contains(wanted), "\(run.err)")
    }

    @Test func tenMegabytesAreRefusedAtOnce() throws {
        let line = "  - reset on connect\n"
        let run = try load("rules:\n" + String(repeating: line, count: 10_000_000 / line.utf8.count))
        #expect(run.code == 64 && run.verdict.contains("plan.yaml:1:1: larger than 1 MiB"), "\(run.err.suffix(300))")
        let many = try load("rules:\n" + String(repeating: line, count: 1_001))
        #expect(
            many.code == 64 && many.verdict.contains("plan.yaml:2:3: a plan has at most 1000 rules"),
            "\(many.err.suffix(300))")
    }

    @Test func presetsStandInFrontOfARealTape() throws {
        let preset = Binary.root.appendingPathComponent("docs/faults/half-open.yaml").path
        let run = try Binary.run(
            "replay", TapeFiles.recording("chat"), "--faults", preset, "--until", "idle:1ms", "--timeout", "200ms")
        #expect(run.code != 64, "\(run.err)")
    }
}
