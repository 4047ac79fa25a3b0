import Foundation
import Testing
import WiretapeFaults
import WiretapeReplay
import WiretapeReport
import WiretapeSettings
import WiretapeWire

/// What people copy: the presets, the catalogue and the schema, held against the code.
@Suite struct PresetTests {
    private static func file(_ name: String) throws -> String {
        try String(contentsOf: Golden.root.appending(path: "docs/\(name)"), encoding: .utf8)
    }

    private static let names = [
        "flaky-mobile", "server-deploy", "load-balancer-idle", "proxy-without-websockets", "half-open", "slow-consumer",
        "auth-expiry", "thundering-herd",
    ]

    private func load(_ name: String) throws -> FaultPlan {
        let text = try Self.file("faults/\(name).yaml")
        return try PlanFile.load("docs/faults/\(name).yaml") { _ throws(PlanError) in Array(text.utf8) }
    }

    @Test(arguments: names)
    func presetsAreLoaded(_ name: String) throws {
        let plan = try load(name)
        #expect(!plan.rules.isEmpty && plan.problemsInReplay.isEmpty)
        #expect(plan.rules.allSatisfy { $0.name != $0.inline }, "every rule of a preset has a name")
    }

    @Test func theCatalogueNamesEveryFault() throws {
        let page = try Self.file("faults.md")
        for entry in Faults.all {
            #expect(page.contains("| `\(entry.word)` | \(entry.summary) |"), "\(entry.word)")
            for example in entry.examples { #expect(page.contains("`\(example)`"), "\(example)") }
        }
        for point in FaultPoint.allCases { #expect(page.contains("`\(point.rawValue)`"), "\(point)") }
        for key in Condition.keys { #expect(page.contains("`\(key)"), "\(key)") }
        for name in Self.names { #expect(page.contains("faults/\(name).yaml"), "\(name)") }
    }

    @Test func theSchemaIsThatOfTheModel() throws {
        #expect(
            try Self.file("faults.schema.json") == PlanSchema.text,
            "run: wiretape config --plan-schema > docs/faults.schema.json")
        let schema = try JSONValue(parsing: PlanSchema.text)
        let when = try #require(schema["$defs"]?["when"]?["properties"]?.members).map(\.name)
        // Every key of the schema is one that the model reads, and the other way round.
        #expect(Set(when) == Set(RuleFields.whenKeys))
        for example in try #require(schema["$defs"]?["rule"]?["oneOf"]?.array?.first?["examples"]?.array) {
            _ = try FaultRule(parsing: example.string ?? "", from: RuleSource(file: "schema"))
        }
    }

    // MARK: What the presets do

    private func play(_ name: String, seed: UInt64 = 1) throws -> Playbook {
        let pushes = (1...40).map { #"\#($0 * 200) < {"type":1,"target":"Tick","arguments":[\#($0)]}"# }
        let tape = TestTape.session(TestTape.handshake + pushes.joined(separator: "\n"))
        let plan = try load(name)
        return try Playbook([tape], plan: plan, seed: seed)
    }

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    @Test func aDeployment() throws {
        let play = try play("server-deploy")
        let c = try play.start()
        play.pass(ms: 5_100)
        #expect(play.take(c).last == "close 1001")
        play.pass(ms: 1_000)
        #expect(play.negotiate() == nil && play.take(play.refused) == ["503 unavailable\n"])
        play.pass(ms: 10_000)
        let d = try play.start()
        play.pass(ms: 10_000)
        #expect(play.take(d).last == tick(40))
        #expect(play.finish().exitCode == 0)
    }

    @Test func anExpiredToken() throws {
        let play = try play("auth-expiry")
        func negotiate(_ token: String) -> String? {
            let c = play.request(
                "POST", "/chat/negotiate?negotiateVersion=1", [HeaderField("Authorization", "Bearer \(token)")])
            return play.take(c).first
        }
        let answer = try JSONValue(parsing: String((negotiate("old") ?? "").dropFirst(4)))
        let id = try #require(answer["connectionToken"]?.string)
        let upgrade = [HeaderField("Upgrade", "websocket"), HeaderField("Authorization", "Bearer old")]
        let c = play.request("GET", "/chat?id=\(id)", upgrade)
        play.send(c, #"{"protocol":"json","version":1}"#)
        play.pass(ms: 1_500)
        #expect(play.take(c).last == "RST")
        #expect(negotiate("old")?.hasPrefix("401") == true)
        #expect(negotiate("new")?.hasPrefix("200") == true)
        #expect(play.finish().exitCode == 0)
    }

    @Test func aProxyWithoutWebSockets() throws {
        let play = try play("proxy-without-websockets")
        let token = try #require(play.negotiate())
        #expect(play.take(play.upgrade(token)).first?.hasPrefix("403") == true)
        let poll = play.poll(token)
        #expect(play.take(poll) == ["200 "])
    }

    @Test func aHalfOpenLink() throws {
        let play = try play("half-open")
        let c = try play.start()
        play.pass(ms: 60_000)
        // What is said afterwards never leaves.
        #expect(play.take(c).dropFirst(5).first == "stall in out")
        #expect(play.finish().faults.count == 1)
    }

    @Test func anIdleTimeOut() throws {
        let play = try play("load-balancer-idle")
        let c = try play.start()
        play.pass(ms: 25_000)
        #expect(play.take(c).last == "stall in out")
        play.pass(ms: 60_000)
        #expect(play.take(c).last == "RST")
    }

    @Test func aFlakyNetworkIsTheSameForTheSameSeed() throws {
        func run(_ seed: UInt64) throws -> ([String], String) {
            let play = try play("flaky-mobile", seed: seed)
            let c = try play.start()
            play.pass(ms: 60_000)
            let got = play.take(c)
            return (got, play.finish().digest)
        }
        for seed in 1...4 as ClosedRange<UInt64> {
            let first = try run(seed)
            #expect(try run(seed) == first)
        }
    }
}
