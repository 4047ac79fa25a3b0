import Testing
import WiretapeBytes
import WiretapeFaults
import WiretapeSettings

/// Every fault of the catalogue in every form.
@Suite struct CatalogueTests {
    private func rule(_ text: String) throws -> FaultRule {
        try FaultRule(parsing: text, from: RuleSource(file: "--fault"))
    }

    @Test func everyExampleCanBeLoadedAndReadsBackTheSame() throws {
        #expect(Set(Faults.all.map(\.word)).count == Faults.all.count)
        for entry in Faults.all {
            #expect(!entry.examples.isEmpty && !entry.summary.isEmpty, "\(entry.word)")
            for example in entry.examples {
                let parsed = try rule(example)
                #expect(parsed.actions.contains { $0.text.hasPrefix(entry.word) }, "\(example)")
                #expect(try rule(parsed.inline).actions == parsed.actions, "\(example)")
                #expect(try rule(parsed.inline).inline == parsed.inline, "\(example)")
            }
        }
    }

    @Test func yamlAndJSONAndInlineAreOneModel() throws {
        let forms: [(yaml: String, json: String, inline: String)] = [
            (
                "{ when: { at: message, direction: toClient, probability: 0.2 }, do: delay(20ms..200ms) }",
                #"{"when":{"at":"message","direction":"toClient","probability":0.2},"do":"delay(20ms..200ms)"}"#,
                "delay(20ms..200ms) on message[direction=toClient] p=0.2"
            ),
            (
                "{ when: { since: { run: 5s } }, do: outage(3s) }",
                #"{"when":{"since":{"run":"5s"}},"do":["outage(3s)"]}"#,
                "outage(3s) since run=5s"
            ),
            (
                "{ when: { at: request, token: stale, headers: { X-Key: a } }, do: respond(401) }",
                #"{"when":{"at":"request","token":"stale","headers":{"X-Key":"a"}},"do":"respond(401)"}"#,
                "respond(401) on request[token=stale, header.X-Key=a]"
            ),
            (
                "{ when: { type: StreamItem, occurrence: 2, /item/id: 7, per: connection }, do: [truncate(2), reset] }",
                #"{"when":{"type":"StreamItem","occurrence":2,"/item/id":7,"per":"connection"},"do":["truncate(2)","reset"]}"#,
                "truncate(2) + reset on StreamItem[2, /item/id=7, per=connection]"
            ),
            (
                "{ when: { direction: toServer }, do: drop }", #"{"when":{"direction":"toServer"},"do":"drop"}"#,
                "drop on message[direction=toServer]"
            ),
            ("reset after \"connect\"[3]", #""reset after \"connect\"[3]""#, "reset after \"connect\"[3]"),
        ]
        for form in forms {
            let wanted = try rule(form.inline)
            let yaml = try PlanFile.load("p") { _ throws(PlanError) in Array("rules:\n  - \(form.yaml)\n".utf8) }
            let json = try FaultPlan(json: Array(form.json.utf8), file: "p")
            for plan in [yaml, json] {
                var read = try #require(plan.rules.first)
                read.source = wanted.source
                read.subjectSource = wanted.subjectSource
                #expect(read == wanted && plan.rules.count == 1)
            }
        }
    }

    @Test(arguments: [
        (#"{"fault":"rset on connect"}"#, "p:1:11: 'rset' is not a fault; did you mean 'reset'?"),
        ("{\n \"ruels\": []}", "p:2:2: a plan has no 'ruels'; did you mean 'rules'?"),
        (
            "{\"rules\":[\n\"reset on connect\",\n {\"do\":\"reset\",\"when\":{\"atempt\":1}}]}",
            "p:3:24: 'when' has no 'atempt'; did you mean 'attempt'?"
        ),
        (#"{"seed":1,"seed":2}"#, "p:1:11: 'seed' stands here twice"),
        (#"{"include":["x"]}"#, "p:1:13: files cannot be included here"),
        (#"{"fault":{}}"#, "p:1:10: expected a text, found a mapping"),
    ])
    func errorsInJSONPointAtTheirPlace(_ text: String, _ wanted: String) {
        do {
            let plan = try FaultPlan(json: Array(text.utf8), file: "p")
            Issue.record("read as \(plan.rules.map(\.inline))")
        } catch {
            #expect("\(error)" == wanted)
        }
    }

    @Test func hostileJSONNeverTraps() {
        let text = Array(
            #"{"rules":[{"name":"a","when":{"type":"next","/x":1},"do":["drop"]},"reset on connect"]}"#.utf8)
        var draw = SplitMix64(seed: 9)
        for length in 0..<text.count {
            _ = try? FaultPlan(json: Array(text.prefix(length)), file: "p")
            for _ in 0..<8 {
                var changed = text
                changed[length] = UInt8(truncatingIfNeeded: draw.next())
                _ = try? FaultPlan(json: changed, file: "p")
            }
        }
        #expect(throws: PlanError.self) {
            try FaultPlan(json: Array(repeating: UInt8(ascii: "["), count: 2 << 20), file: "p")
        }
        #expect(throws: PlanError.self) {
            try FaultPlan(
                json: Array(
                    ("[" + String(repeating: "\"reset on connect\",", count: 1_001) + "\"reset on connect\"]").utf8),
                file: "p")
        }
    }
}
