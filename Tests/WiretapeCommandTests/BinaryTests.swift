import Foundation
import Testing
internal import WiretapeCommandLine
import WiretapeCommands

@Suite(.waitsForPrograms) struct BinaryTests {
    @Test(arguments: ["version", "--version"])
    func printsItsVersion(_ word: String) throws {
        #expect(try Binary.run(word) == Binary.Run(code: 0, out: "wiretape 0.1.0\n", err: ""))
    }

    @Test(arguments: Commands.specs.map(\.name))
    func everyCommandExplainsItself(_ name: String) throws {
        let run = try Binary.run(name, "--help")
        #expect(run.code == 0)
        #expect(run.out.hasPrefix("Usage: wiretape \(name)"))
        #expect(try Binary.run("help", name).out == run.out)
    }

    @Test func anUnknownCommandNamesTheNearest() throws {
        let run = try Binary.run("completoins")
        #expect(run.code == 64)
        #expect(run.out == "")
        #expect(run.verdict == "wiretape: usage (exit 64): unknown command 'completoins'; did you mean 'completions'?")
    }

    @Test func nothingAtAllShowsTheCommands() throws {
        let run = try Binary.run()
        #expect(run.code == 64)
        #expect(run.err.contains("completions"))
        #expect(run.verdict == "wiretape: usage (exit 64): no command is named")
    }

    @Test(arguments: [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
    func completionsAreScripts(_ shell: String, _ check: String) throws {
        let script = try Binary.run("completions", shell)
        #expect(script.code == 0)
        for name in Commands.specs.map(\.name) { #expect(script.out.contains(name)) }
        let program = ["/bin/", "/usr/bin/", "/usr/local/bin/"].map { URL(fileURLWithPath: $0 + shell) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        // Debian has bash; the other two are checked where they are installed.
        guard let program else { return }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("wt-\(UUID().uuidString)")
        try script.out.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try Binary.run(program, [check, file.path])
        #expect(run.code == 0, "\(run.err)")
    }

    @Test(arguments: [
        (["wiretape", "completions", ""], "bash zsh fish"), (["wiretape", "comp"], "completions"),
        (["wiretape", "help", "--ma"], "--markdown"), (["wiretape", "help", "fau"], "faults"),
    ])
    func bashCompletes(_ words: [String], _ offered: String) throws {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            eval "$('\(Binary.wiretape.path)' completions bash)"
            COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); _wiretape; echo "${COMPREPLY[*]}"
            """
        let run = try Binary.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(run.out == offered + "\n", "\(run.err)")
    }

    @Test func theManPageHasNoMistakes() throws {
        let page = try Binary.run("man").out
        for name in Commands.specs.map(\.name) { #expect(page.contains(".SS \"wiretape \(name)")) }
        let man = URL(fileURLWithPath: "/usr/bin/man")
        guard FileManager.default.isExecutableFile(atPath: man.path) else { return }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("wt-\(UUID().uuidString).1")
        try page.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try Binary.run(man, ["--warnings", "-l", file.path])
        #expect(run.code == 0)
        #expect(run.err == "")
    }

    @Test func docsHaveTheDeclarations() throws {
        let file = Binary.root.appendingPathComponent("docs/cli.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(page == CommandTable.markdown(Commands.specs), "run: wiretape help --markdown > docs/cli.md")
    }
}
