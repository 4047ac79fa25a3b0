import Testing
import WiretapeBytes
import WiretapeFaults
import WiretapeSettings

@Suite struct PlanFileTests {
    private func load(_ files: [String: String], _ name: String = "plan.yaml") throws -> FaultPlan {
        try PlanFile.load(name) { path throws(PlanError) in
            guard let text = files[path] else { throw PlanError("no such file", at: RuleSource(file: path)) }
            return Array(text.utf8)
        }
    }

    private func load(_ text: String) throws -> FaultPlan { try load(["plan.yaml": text]) }

    private func inline(_ text: String, name: String? = nil) throws -> FaultRule {
        try FaultRule(parsing: text, from: RuleSource(file: "plan.yaml"), name: name)
    }

    @Test(arguments: [
        ("- reset after ReceiveMessage[3]", "reset after ReceiveMessage[3]"),
        ("- 'close(4403, \"Forbidden\") after next[3]'", "close(4403, \"Forbidden\") after next[3]"),
        (
            "- fault: respond(503, Retry-After=1) on connect[retry=1..2]",
            "respond(503, Retry-After=1) on connect[retry=1..2]"
        ),
        (
            "- { when: { at: message, direction: toClient, probability: 0.2 }, do: disconnect }",
            "disconnect after message[direction=toClient] p=0.2"
        ),
        (
            "- { when: { type: next, operation: OnTick, occurrence: 3 }, place: after, do: 'close(4403, \"Forbidden\")' }",
            "close(4403, \"Forbidden\") after next[3, operation=OnTick]"
        ),
        (
            "- { when: { target: ReceiveMessage, occurrence: every 2, max: 4 }, do: [reset], place: before }",
            "reset before ReceiveMessage[every 2] max=4"
        ),
        (
            "- { when: { at: connect, retry: 1|3, session: 2, attempt: 2..3 }, do: respond(503) }",
            "respond(503) on connect in session=2 in attempt=2..3 in retry=1|3"
        ),
        (
            "- { when: { type: StreamItem, /item/id: 7, /item/name: \"7\" }, do: reset }",
            "reset after StreamItem[/item/id=7, /item/name=\"7\"]"
        ),
        ("- { when: { at: \"connect\" }, do: reset }", "reset after \"connect\""),
    ])
    func yamlGivesTheSameRules(_ yaml: String, _ text: String) throws {
        var read = try #require(try load("rules:\n  \(yaml)\n").rules.first)
        let wanted = try inline(text)
        read.source = wanted.source
        read.subjectSource = wanted.subjectSource
        #expect(read == wanted)
    }

    @Test func namesSeedsOptionsAndIncludes() throws {
        let plan = try load(
            [
                "dir/plan.yaml": """
                seed: 42
                rules:
                  - { name: cut, fault: reset after A, optional: true }
                  - reset after A
                  - reset after A
                include: [more.yaml]
                """,
                "dir/more.yaml": "seed: 7\nrules: [disconnect on connect]",
            ], "dir/plan.yaml")
        #expect(plan.seed == 42)
        #expect(plan.rules.map(\.name) == ["cut", "reset after A", "reset after A#2", "disconnect on connect"])
        #expect(plan.rules.map(\.optional) == [true, false, false, false])
        #expect(
            plan.rules.map(\.source.description) == [
                "dir/plan.yaml:3", "dir/plan.yaml:4", "dir/plan.yaml:5", "dir/more.yaml:2",
            ])
    }

    @Test(arguments: [
        ("rules:\n  - reset afer X", "2:11: 'afer' does not belong here; did you mean 'after'?"),
        ("rules:\n  - 'reset afer X'", "2:12: 'afer' does not belong here; did you mean 'after'?"),
        ("ruels: []", "1:1: a plan has no 'ruels'; did you mean 'rules'?"),
        ("rules:\n  - { wehn: {}, do: reset }", "2:7: a rule has no 'wehn'; did you mean 'when'?"),
        ("rules:\n  - { when: { atempt: 1 }, do: reset }", "2:15: 'when' has no 'atempt'; did you mean 'attempt'?"),
        ("rules:\n  - { when: { at: connect }, do: rset }", "2:34: 'rset' is not a fault; did you mean 'reset'?"),
        (
            "rules:\n  - { when: { at: connect }, do: close, name: c }",
            "2:19: rule 'c': close needs a WebSocket, and there is none at 'connect'; use respond, disconnect or reset"
        ),
        (
            "rules:\n  - { when: { at: connect, type: X }, do: reset }",
            "2:19: 'connect' is about requests, which have no type"
        ),
        (
            "rules:\n  - { fault: reset on connect, do: reset }",
            "2:32: 'fault' says all of it: 'do' cannot stand beside it"
        ),
        ("rules:\n  - { when: { at: connect } }", "2:5: 'do' is missing: what the rule does"),
        ("rules:\n  - { do: reset }", "2:5: 'reset' needs a place, such as 'after ReceiveMessage[3]' or 'on connect'"),
        ("rules: reset", "1:8: 'rules' is a list, found 'reset'"),
        ("seed: -1", "1:7: a seed is a whole number from 0, found '-1'"),
        ("seed: 1\nseed: 2", "2:1: 'seed' stands here twice"),
        ("- a", "1:1: a plan is a mapping, found a list"),
        ("a: [", "2:1: not YAML: did not find expected node content"),
        ("include: [gone.yaml]", "1:11: 'gone.yaml': no such file"),
        ("include: [plan.yaml]", "1:11: 'plan.yaml' includes itself"),
        ("a: &x 1\nb: *x", "1:4: anchors and aliases are not read"),
        ("--- {}\n--- {}", "2:1: only one document a file"),
    ])
    func errorsPointAtTheirPlace(_ text: String, _ wanted: String) {
        do {
            let plan = try load(text)
            Issue.record("'\(text)' was read as \(plan.rules.map(\.inline))")
        } catch {
            #expect("\(error)" == "plan.yaml:\(wanted)")
        }
    }

    /// Files that include one another eight times each, 13 deep: 8^13 loads.
    @Test func howMuchIsIncludedIsBounded() throws {
        func plans(_ breadth: Int, _ depth: Int) throws -> Int {
            var loads = 0
            _ = try PlanFile.load("0") { file throws(PlanError) in
                loads += 1
                guard loads < 100_000 else { throw PlanError("too many", at: RuleSource(file: file)) }
                let level = Int(file) ?? 0
                let names = (0..<breadth).map { _ in "'\(level + 1)'" }.joined(separator: ", ")
                return Array((level < depth ? "include: [\(names)]" : "rules: [reset after A]").utf8)
            }
            return loads
        }
        do {
            _ = try plans(8, 13)
            Issue.record("it was loaded")
        } catch let error as PlanError {
            #expect(error.message == "the plan includes more than 256 files", "\(error)")
        }
        #expect(try plans(255, 1) == 256)
        #expect(try plans(1, 15) == 16)
        #expect(throws: PlanError.self) { _ = try plans(256, 1) }
    }

    @Test func emptyPlansAreAllRight() throws {
        #expect(try load("").rules.isEmpty)
        #expect(try load("rules:\n").rules.isEmpty)
    }

    @Test func bombsAreRefused() {
        let bombs = [
            String(repeating: "x", count: (1 << 20) + 1),
            "a: " + String(repeating: "[", count: 500),
            "a: " + String(repeating: "- ", count: 100),
            "a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nrules: *c",
            "rules: [" + String(repeating: "x,", count: 200_000) + "]",
            "\u{0}", "%YAML 9.9\n---\n", "? ? ? ?", "!!binary |\n  x",
        ]
        for bomb in bombs {
            #expect(throws: PlanError.self) { try load(bomb) }
        }
        var invalid: [UInt8] = Array("rules: ".utf8)
        invalid.append(0xff)
        #expect(throws: PlanError.self) { try PlanFile.load("p") { _ throws(PlanError) in invalid } }
    }

    @Test func everyPrefixAndMutationIsAPlanOrAnError() {
        let text = Array(
            "seed: 4\nrules:\n  - { name: a, when: { type: next, /x: 1 }, do: 'close(4403)' }\n  - reset on connect\n"
                .utf8)
        var draw = SplitMix64(seed: 3)
        for length in 0..<text.count {
            _ = try? PlanFile.load("p") { _ throws(PlanError) in Array(text.prefix(length)) }
            var changed = text
            changed[length] = UInt8(truncatingIfNeeded: draw.next())
            _ = try? PlanFile.load("p") { _ throws(PlanError) in changed }
        }
    }
}
