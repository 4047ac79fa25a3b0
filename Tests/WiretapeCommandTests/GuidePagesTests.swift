import Foundation
import Testing

/// The pages of docs/guide say what is true: their commands are run as they stand, page by page, each in one shell.
@Suite(.waitsForPrograms) struct GuidePagesTests {
    @Test(arguments: [
        ("from-a-bug-report", 9, #""#), ("from-mock-hubs", 7, "2 of 2 sessions played to the end"),
        ("in-ci", 5, "--upstream http://127.0.0.1:"),
        ("other-languages", 2, "expected delays(0s), session 1: met"),
    ])
    func everyCommandRuns(_ page: String, _ count: Int, _ said: String) throws {
        let text = try String(contentsOf: Binary.root.appendingPathComponent("docs/guide/\(page).md"), encoding: .utf8)
        let blocks = ReadmeTests.blocks(text, marked: "sh run")
        #expect(blocks.count == count)
        let scratch = try Scratch()
        let port = try ReadmeTests.freePort()
        let ready = "for i in $(seq 200); do (: < /dev/tcp/127.0.0.1/\(port)) 2>/dev/null && break; sleep 0.05; done\n"
        var script = "set -em\ncd '\(scratch.url.path)'\nunset CI\nexport PATH='\(Binary.folder.path)':\"$PATH\"\n"
        for block in blocks {
            // What begins with an exclamation mark has to fail, which `set -e` does not look at.
            let lines = block.replacingOccurrences(of: "5000", with: port).split(
                separator: "\n", omittingEmptySubsequences: false)
            script += lines.map {
                $0.hasPrefix("! ") ? "if \($0.dropFirst(2)); then echo 'it has not failed'; exit 1; fi" : String($0)
            }
            .joined(separator: "\n")
            if block.hasSuffix("&\n") { script += ready }
        }
        let run = try Binary.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(run.code == 0, "\(run.out.suffix(2_000))\n\(run.err.suffix(4_000))")
        #expect(said.isEmpty || run.err.contains(said), "\(run.err)")
    }

    @Test(arguments: ["README", "from-a-bug-report", "from-mock-hubs", "in-ci", "other-languages"])
    func linksLeadSomewhere(_ page: String) throws {
        let file = Binary.root.appendingPathComponent("docs/guide/\(page).md")
        for match in try String(contentsOf: file, encoding: .utf8).matches(of: /\]\((?!https?:)([^)#]+)\)/) {
            let target = file.deletingLastPathComponent().appendingPathComponent(String(match.1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(page) links to \(match.1)")
        }
    }

    /// The listing of Java stands in the file that `Examples/java/run` compiles and runs.
    @Test func javaIsFromItsExample() throws {
        let page = try String(
            contentsOf: Binary.root.appendingPathComponent("docs/guide/other-languages.md"), encoding: .utf8)
        let file = try String(
            contentsOf: Binary.root.appendingPathComponent("Examples/java/ChatTest.java"), encoding: .utf8)
        let listings = ReadmeTests.blocks(page, marked: "java")
        #expect(listings.count == 1)
        for listing in listings { #expect(file.contains(listing)) }
    }
}
