import Foundation
import Testing

/// README.md says what is true: its commands marked `sh run` are run, in their order and in one shell.
@Suite(.waitsForPrograms) struct ReadmeTests {
    static func blocks(_ text: String, marked mark: String) -> [String] {
        var blocks: [String] = []
        var block: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let open = block {
                if line == "```" {
                    blocks.append(open)
                    block = nil
                } else {
                    block = open + line + "\n"
                }
            } else if line == "```\(mark)" {
                block = ""
            }
        }
        return blocks
    }

    @Test func everyCommandRuns() throws {
        let readme = try String(contentsOf: Binary.root.appendingPathComponent("README.md"), encoding: .utf8)
        let commands = Self.blocks(readme, marked: "sh run")
        #expect(commands.count == 7)
        let scratch = try Scratch()
        // A free port stands for the reader's 5000. The hub needs a moment to listen, which a reader takes anyway.
        let ready = "for i in $(seq 100); do (: < /dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.05; done\n"
        let script =
            "set -em\ncd '\(scratch.url.path)'\nexport PATH='\(Binary.folder.path)':\"$PATH\"\nport=\(try Self.freePort())\n"
            + commands[0].replacingOccurrences(of: "5000", with: "$port") + ready
            + commands.dropFirst().joined().replacingOccurrences(of: "5000", with: "$port")
        let run = try Binary.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(run.code == 0, "\(run.err)")
        let report = try String(contentsOf: scratch.url.appendingPathComponent("report.json"), encoding: .utf8)
        #expect(report.contains("\"verdict\":\"pass\""))
        #expect(run.err.contains("expected delays(0s, 2s), session 1: met"))
    }

    /// What the README links to is there.
    @Test(arguments: [
        "README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/architecture.md", "docs/limitations.md",
        "docs/threat-model.md", "docs/internals/README.md",
    ])
    func linksLeadSomewhere(_ page: String) throws {
        let file = Binary.root.appendingPathComponent(page)
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /\]\((?!https?:)([^)#]+)\)/) {
            let target = file.deletingLastPathComponent().appendingPathComponent(String(match.1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(page) links to \(match.1)")
        }
    }

    static func freePort() throws -> String {
        let scratch = try Scratch()
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        _ = try hub.stop()
        return String(hub.url.split(separator: ":").last ?? "")
    }
}
