import Foundation
import Testing

/// What a sweep finds in clients of streams of no known protocol.
@Suite(.waitsForPrograms) struct SweepStreamTests {
    private func sweep(_ tape: String, _ options: [String], flaw: [String]) throws -> (
        run: Binary.Run, report: [String: Any]
    ) {
        let fixtures = Binary.root.appendingPathComponent("Tests/Fixtures")
        let scratch = try Scratch()
        let file = scratch.path("report.json")
        let run = try Binary.run(
            Binary.wiretape,
            [
                "sweep", fixtures.appendingPathComponent("events/\(tape).tape").path, "--speed", "instant", "--jobs",
                "4",
                "--faults", "reset,close(1001),respond(503)", "--output", scratch.path("out"), "--report", file,
            ] + options
                + ["--", "python3", fixtures.appendingPathComponent("stream-client.py").path, "{url}", tape] + flaw)
        let data = (try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data("{}".utf8)
        return (run, try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:])
    }

    /// Pieces have no ids: who asks again asks for all of it.
    @Test(arguments: [("prices", []), ("say", ["--on-reconnect", "restart"])], ["messages", "bytes"])
    func soundClientsSurvive(_ stream: (tape: String, options: [String]), _ points: String) throws {
        let (run, report) = try sweep(stream.tape, stream.options + ["--at", points], flaw: [])
        #expect(run.code == 0, "\(run.err)")
        let survived = report["survived"] as? Int ?? 0
        #expect(survived >= 12 && report["broken"] as? Int == 0, "\(run.err)")
    }

    /// A client without an id, and one that asks for everything and keeps what it had.
    @Test(arguments: [("prices", "forgets"), ("say", "appends")])
    func flawsAreFound(_ tape: String, _ flaw: String) throws {
        let (run, report) = try sweep(tape, ["--on-reconnect", "restart"], flaw: [flaw])
        #expect(run.code == 5, "\(run.err)")
        let failures = report["failures"] as? [[String: Any]] ?? []
        #expect(!failures.isEmpty && failures.allSatisfy { $0["outcome"] as? String == "exit 70" }, "\(run.err)")
    }
}
