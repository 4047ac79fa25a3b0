import Foundation
import Testing

/// The sample client against a real recording: what a sweep finds in it.
@Suite(.waitsForPrograms) struct SweepCommandTests {
    private let client = Binary.folder.appendingPathComponent("sample-client").path

    /// Sweeps the recorded chat with the sample client.
    private func sweep(_ options: [String], flaw: [String] = []) throws -> (run: Binary.Run, report: [String: Any]) {
        let tape = Binary.root.appendingPathComponent("recordings/chat.tape.gz").path
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wt-sweep-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("report.json").path
        let chat = [
            "{url}/hub", "--user", "ada", "--say", "hello bob", "--say", "fine, thanks", "--say", "bye", "--until", "7",
        ]
        let run = try Binary.run(
            Binary.wiretape,
            ["sweep", tape, "--speed", "instant", "--output", folder.path, "--report", file] + options + ["--", client]
                + chat + ["--reconnect", "0s,0s,0s,0s"] + flaw)
        let data = (try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data("{}".utf8)
        return (run, try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:])
    }

    @Test func aSoundClientSurvives() throws {
        let (run, report) = try sweep(["--faults", "reset", "--jobs", "4"])
        #expect(run.code == 0, "\(run.err)")
        let survived = report["survived"] as? Int ?? 0
        #expect(survived >= 8 && report["broken"] as? Int == 0)
        #expect(run.verdict.hasPrefix("wiretape: pass (exit 0): \(survived) of "))
    }

    @Test func aPlantedFlawIsFoundAndShrunkToOneRule() throws {
        let (run, report) = try sweep(
            ["--faults", "reset,respond(503)", "--fault", "reset after handshake in attempt=1", "--jobs", "4"],
            flaw: ["--flaw", "4"])
        #expect(run.code == 5)
        let failures = try #require(report["failures"] as? [[String: Any]])
        #expect(failures.map { $0["outcome"] as? String } == ["exit 70"])
        let plan = try #require(failures.first?["plan"] as? [String])
        #expect(plan.count == 1 && plan[0].hasPrefix("reset after "), "\(plan)")
        let command = try #require(failures.first?["command"] as? String)
        let again = try Binary.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "cd '\(Binary.root.path)' && '\(Binary.wiretape.path)' \(command.dropFirst("wiretape ".count))"])
        #expect(again.code == 70, "\(again.err)")
    }

    @Test func knownFailuresDoNotFailASweep() throws {
        let known = FileManager.default.temporaryDirectory.appendingPathComponent("wt-known-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: known) }
        try Data("# seen before\nreset after ReceiveMessage[3]\nreset after ReceiveMessage[7]\n".utf8).write(to: known)
        let (run, report) = try sweep(
            ["--faults", "reset", "--jobs", "4", "--known", known.path], flaw: ["--flaw", "4"])
        #expect(report["known"] as? [String] == ["reset after ReceiveMessage[3]"], "\(run.err)")
        #expect(report["fixed"] as? [String] == ["reset after ReceiveMessage[7]"], "\(run.err)")
        let failures = report["failures"] as? [[String: Any]] ?? []
        #expect(!failures.contains { $0["rule"] as? String == "reset after ReceiveMessage[3]" })
    }

    @Test func aPlanGivesItsFaults() throws {
        let plan = FileManager.default.temporaryDirectory.appendingPathComponent("wt-plan-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: plan) }
        let text = """
            rules:
              - { name: pause, when: { at: message, probability: 0.1 }, place: after, do: 'stall(both, 5ms) + reset' }
              - respond(503) on connect[2]
            """
        try text.write(to: plan, atomically: true, encoding: .utf8)
        let (run, report) = try sweep(["--faults", plan.path, "--jobs", "4"], flaw: ["--flaw", "4"])
        #expect(run.code == 5, "\(run.err)")
        let failures = try #require(report["failures"] as? [[String: Any]])
        let rules = failures.compactMap { $0["rule"] as? String }
        #expect(rules.contains { $0.hasPrefix("stall(both, 5ms) + reset after ") }, "\(rules)")
        // The reset alone does it.
        let plans = failures.compactMap { $0["plan"] as? [String] }
        #expect(plans.contains { $0.count == 1 && $0[0].hasPrefix("reset after ") }, "\(plans)")
        // `respond` has no place behind a message.
        let cases = try sweep(["--faults", plan.path, "--at", "boundaries", "--budget", "1ms"]).report["cases"] as? Int
        let resets = try sweep(["--faults", "reset", "--at", "boundaries", "--budget", "1ms"]).report["cases"] as? Int
        #expect(cases ?? 0 > resets ?? .max, "\(cases ?? 0) \(resets ?? 0)")
    }

    @Test func cutsStandAtFourPlacesOfAMessage() throws {
        let cuts = try sweep(["--faults", "reset", "--at", "bytes", "--budget", "1ms"]).report["cases"] as? Int
        let messages = try sweep(["--faults", "duplicate", "--at", "bytes", "--budget", "1ms"]).report["cases"] as? Int
        let places =
            try sweep(["--faults", "reset,disconnect", "--at", "bytes", "--budget", "1ms"]).report["cases"] as? Int
        #expect(cuts ?? 0 > 0 && (cuts ?? 0) % 4 == 0 && places == 2 * (cuts ?? 0) && messages == nil)
    }

    @Test func shardsAreTheWholeSweep() throws {
        let parts = try (1...3).map {
            try sweep(["--faults", "reset", "--at", "boundaries", "--shard", "\($0)/3"]).report
        }
        let whole = parts.first?["cases"] as? Int
        #expect(whole != nil && parts.compactMap { $0["chosen"] as? Int }.reduce(0, +) == whole)
    }

    @Test(arguments: [
        (["--faults", "rset"], "'rset' is not a fault"), (["--faults", "reset,"], "has an empty fault"),
        (["--faults", "close(1001"], "never closed"), (["--faults", "none.yaml"], "none.yaml:1:1: cannot be read"),
        (["--shard", "3/2"], "'3/2' is not a shard"),
        (["--fault", "reset"], "'reset' needs a place"), (["--at", "noon"], "noon"),
    ])
    func nonsenseIsRefused(_ options: [String], _ words: String) throws {
        let run = try Binary.run(Binary.wiretape, ["sweep", "x.tape"] + options + ["--", "true"])
        #expect(run.code == 64 && run.err.contains(words), "\(run.err)")
    }

    @Test func aSweepNeedsAClient() throws {
        let run = try Binary.run("sweep", "x.tape")
        #expect(run.code == 64 && run.err.contains("needs the client to run"))
    }

    @Test func aClientThatFailsByItselfIsNotSwept() throws {
        let tape = Binary.root.appendingPathComponent("recordings/chat.tape.gz").path
        let run = try Binary.run(Binary.wiretape, ["sweep", tape, "--", "false"])
        #expect(run.code == 1)
        #expect(run.verdict.contains("the client does not pass without a fault"), "\(run.err)")
    }
}
