import Foundation
import Testing
import WiretapeFaults
import WiretapeSettings
import WiretapeWire

/// `docs/faults.schema.json` accepts the plans that the program accepts, and refuses what it refuses as far as a schema can
/// see.
@Suite struct SchemaTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs")

    private let schema: JSONSchema

    init() throws { schema = JSONSchema(root: try JSONValue(parsing: PlanSchema.text)) }

    /// - Returns: why the program refuses it; nil when it does not.
    private func refusal(_ plan: String) -> String? {
        do {
            _ = try PlanFile.load(plan.hasPrefix("{") ? "p.json" : "p.yaml") { _ throws(PlanError) in Array(plan.utf8) }
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func problems(_ plan: String) throws -> [String] {
        schema.problems(try YAMLReader.read(Array(plan.utf8), file: "p")?.json ?? .object([]))
    }

    @Test func presets() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "faults").path)
        #expect(files.count >= 8)
        for file in files {
            let text = try String(contentsOf: Self.folder.appending(path: "faults/\(file)"), encoding: .utf8)
            #expect(try problems(text).isEmpty, "\(file)")
            #expect(refusal(text) == nil, "\(file)")
        }
    }

    @Test func theExampleOfThePage() throws {
        let page = try String(contentsOf: Self.folder.appending(path: "faults.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(try problems(block).isEmpty)
            let plan = block.split(separator: "\n").filter { !$0.hasPrefix("include") }.joined(separator: "\n")
            #expect(refusal(plan) == nil)
        }
    }

    @Test func examplesOfTheCatalogue() throws {
        for example in Faults.all.flatMap(\.examples) {
            let plan = "{\"rules\":[\(JSONValue.string(example).text)]}"
            #expect(try problems(plan).isEmpty && refusal(plan) == nil, "\(example)")
        }
    }

    @Test(arguments: [
        #"{"seed":18446744073709551615,"rules":[]}"#, #"{"seed":"42"}"#, #"{"rules":null}"#,
        #"{"rules":[{"fault":"reset on connect","name":"a","optional":true}]}"#,
        #"{"rules":[{"name":7,"when":{"at":"connect","occurrence":3},"do":["reset"],"place":"instead"}]}"#,
        #"{"rules":[{"when":{"at":"Tick","occurrence":"every 3","attempt":"2..5","retry":"1 | 4"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","probability":0.5,"max":2,"per":"connection"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","probability":"1e-3","max":"2","per":"run"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"since":{"handshake":"1.5s"}},"do":"stall(both, 5s) + reset"}]}"#,
        #"{"rules":[{"when":{"since":{"run":0}},"do":"outage(3s)"}]}"#,
        #"{"rules":[{"when":{"type":"StreamItem","/item/id":7,"/item/x":null,"size":">100","transport":"ws|sse"},"do":"drop "}]}"#,
        #"{"rules":[{"when":{"at":"request","headers":{"X-Key":"a"},"token":"stale","header.X-B":"*"},"do":"respond(401)"}]}"#,
        #"{"rules":[{"when":{"at":"close","by":"server","code":1001},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"size":10,"regex":"[0-9]+"},"do":"drop"}]}"#,
    ])
    func bothAccept(_ plan: String) throws {
        #expect(try problems(plan) == [])
        #expect(refusal(plan) == nil)
    }

    @Test(arguments: [
        #"{"seed":-1}"#, #"{"seed":1.5}"#, #"{"seed":"x"}"#, #"{"rulse":[]}"#, #"{"rules":{}}"#, #"{"rules":[5]}"#,
        #"[]"#,
        #"{"rules":["rset on connect"]}"#, #"{"rules":[{"fault":"reset on connect","do":"reset"}]}"#,
        #"{"rules":[{"when":{"at":"connect"}}]}"#, #"{"rules":[{"do":"reset"}]}"#,
        #"{"rules":[{"when":{},"do":"reset"}]}"#,
        #"{"rules":[{"when":{"attempt":2},"do":"reset"}]}"#, #"{"rules":[{"when":{"at":"connect"},"do":[]}]}"#,
        #"{"rules":[{"when":{"at":"connect"},"do":"reset","place":"beside"}]}"#,
        #"{"rules":[{"when":{"at":"connect","occurrence":0},"do":"reset"}]}"#,
        #"{"rules":[{"when":{"at":"connect","occurrence":"2.5"},"do":"reset"}]}"#,
        #"{"rules":[{"when":{"at":"connect","attempt":-1},"do":"reset"}]}"#,
        #"{"rules":[{"when":{"at":"message","probability":1.5},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","probability":-0.1},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","probability":"nan"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","max":0},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","per":"day"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"since":{"run":"5"}},"do":"outage(3s)"}]}"#,
        #"{"rules":[{"when":{"since":{"run":5}},"do":"outage(3s)"}]}"#,
        #"{"rules":[{"when":{"since":{"start":"5s"}},"do":"outage(3s)"}]}"#,
        #"{"rules":[{"when":{"since":{}},"do":"outage(3s)"}]}"#,
        #"{"rules":[{"when":{"at":"message","direction":"up"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","size":"big"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","transport":"udp"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"close","code":70000},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"target":null},"do":"drop"}]}"#, #"{"rules":[{"when":{"target":{}},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","colour":"red"},"do":"drop"}]}"#,
        #"{"rules":[{"when":{"at":"message","header.":"red"},"do":"drop"}]}"#,
        #"{"rules":[{"fault":"reset on connect","optional":"perhaps"}]}"#,
        #"{"rules":[{"fault":"reset on connect","name":""}]}"#,
        #"{"rules":[{"fault":null}]}"#, #"{"include":"x.yaml"}"#, #"{"include":[""]}"#,
    ])
    func bothRefuse(_ plan: String) throws {
        #expect(try !problems(plan).isEmpty, "the schema accepts it")
        #expect(refusal(plan) != nil, "the program accepts it")
    }

    @Test func theCheckerRefusesWhatItShould() {
        let schema = JSONSchema(
            root: .object([.init("type", .string("object")), .init("required", .array([.string("a")]))]))
        #expect(schema.problems(.object([])) == [": required"])
        #expect(schema.problems(.array([])) == [": type"])
    }
}
