import Foundation
import Testing
internal import WiretapeCommandLine
import WiretapeCommands

/// A settings file that came with a tape reaches nothing beyond the run.
@Suite(.waitsForPrograms) struct TapeSettingsTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Every option of every command, also those to come: what names a file, a folder, a server or an address is none that a
    /// file beside a tape can set.
    @Test func noOptionOfThatKindMayStandBesideATape() {
        for spec in Commands.specs {
            for option in spec.options where TapeSettings.options.contains(option.name) {
                switch option.kind {
                case .file, .directory: Issue.record("--\(option.name) of \(spec.name) names a file")
                case .text, .choice, .count, .duration, .checked: break
                }
                let help = option.help.lowercased()
                let words = ["certificate", "connect:", "host", "command", "write ", "secret", "password", "listen on"]
                for word in words where help.contains(word) {
                    Issue.record("--\(option.name) of \(spec.name) may reach beyond the run: \(option.help)")
                }
            }
        }
    }

    /// A value for each option that takes one, so that the file as a whole is right.
    private func value(of option: OptionSpec) -> String? {
        let tried = [
            "1", "1s", "127.0.0.1:9", "http://127.0.0.1:9", "a=http://127.0.0.1:9", "error", "A:/x", "reset after A",
            "delays(0s)", "/a=/b", "ws", "off", "1/2", "k=v", "first", "refuse", "stop", "wait", "text", "table",
            "messages",
            "session", "finished", "once(A)", "tape", "resume", "fail", "header:a",
        ]
        if option.valueName == nil { return "true" }
        return option.kind.suggestions.first ?? tried.first { option.kind.complaint(about: $0) == nil }
    }

    @Test func whatReachesBeyondTheRunIsLeftOutAndShown() throws {
        var lines = ["upstreams: { main: 'http://192.0.2.1:80' }", "defaults:"]
        var wanted: [String: Set<String>] = [:]
        for spec in Commands.specs where spec.option("config") != nil && spec.name != "config" {
            lines.append("  \(spec.name):")
            for option in spec.options where option.missing == nil && !["help", "config"].contains(option.name) {
                guard let value = value(of: option) else {
                    Issue.record("no value for --\(option.name) of \(spec.name)")
                    continue
                }
                lines.append("    \(option.name): '\(value)'")
                if !TapeSettings.options.contains(option.name) { wanted[spec.name, default: []].insert(option.name) }
            }
        }
        let tape = try TapeFiles.copy("chat", in: scratch)
        _ = try TapeFiles.write(lines, "chat.tape.yaml", in: scratch)
        let run = try Binary.run("config", "--show", "--json", tape)
        #expect(run.code == 0, "\(run.err)")
        struct Row: Decodable {
            var command: String?
            var option: String
            var left_out: Bool
        }
        let rows = try run.out.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        var left: [String: Set<String>] = [:]
        for row in rows where row.left_out { left[row.command ?? "", default: []].insert(row.option) }
        #expect(left.removeValue(forKey: "") == ["upstream"])
        #expect(left == wanted)
        for row in rows where !row.left_out { #expect(TapeSettings.options.contains(row.option), "\(row.option)") }
        let text = try Binary.run("config", "--show", tape)
        #expect(text.out.contains("left out: replay --report 1") && text.out.contains("chat.tape.yaml:"), "\(text.out)")
        #expect(text.verdict.contains(" left out; "))
        // Who names the file trusts it.
        let named = try Binary.run("config", "--show", tape, "--config", scratch.path("chat.tape.yaml"))
        #expect(!named.out.contains("left out") && named.out.contains("replay --report 1"))
    }

    /// The verdict names the option that made the run pass.
    @Test func aVerdictThatTheFileRelaxedSaysSo() throws {
        let tape = try TapeFiles.copy("chat", in: scratch)
        func replay() throws -> Binary.Run { try Binary.run(Binary.wiretape, ["replay", tape, "--", "true"]) }
        #expect(try replay().code == 2)
        _ = try TapeFiles.write(["defaults: { replay: { allow-unplayed: true } }"], "chat.tape.yaml", in: scratch)
        let run = try replay()
        #expect(run.code == 0 && run.verdict.contains("; relaxed by "), "\(run.err)")
        #expect(run.verdict.contains("chat.tape.yaml:1 (allow-unplayed)"))
    }

    /// Settings beside a tape cannot exempt a secret from redaction.
    @Test func keepIsLeftOut() throws {
        let tape = try TapeFiles.copy("chat", in: scratch)
        _ = try TapeFiles.write(
            ["keep: 'header:X-Api-Key'", "defaults: { scan: { keep: 'cookie:sid' } }"], "chat.tape.yaml", in: scratch)
        let run = try Binary.run("scan", tape)
        #expect(run.err.components(separatedBy: "'keep' is left out").count == 3, "\(run.err)")
    }

    @Test func aStrangersFileWritesNothingAndOpensNothing() throws {
        let tape = try TapeFiles.copy("chat", in: scratch)
        let victim = scratch.path("victim.json")
        try "mine".write(toFile: victim, atomically: true, encoding: .utf8)
        let file = [
            "ignore: [ 'SendMessage:/arguments/1' ]",
            "defaults: { replay: { report: '\(victim)', listen: '0.0.0.0:0', speed: instant, on-miss: passthrough,",
            "  upstream: 'http://192.0.2.1:80', quiet: true } }",
        ]
        _ = try TapeFiles.write(file, "chat.tape.yaml", in: scratch)
        let client = Binary.folder.appendingPathComponent("sample-client").path
        let said = ["--say", "other", "--say", "words", "--say", "here"]
        let run = try Binary.run(
            Binary.wiretape, ["replay", tape, "--json", "--timeout", "20s", "--", client, "{url}/hub"] + said)
        #expect(run.code == 0, "\(run.err)")
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        #expect(run.out.contains(#""url":"http://127.0.0.1:"#))
        for option in ["report", "listen", "on-miss", "upstream", "quiet"] {
            #expect(run.err.contains("'\(option)' is left out, since a file beside a tape"), "\(option): \(run.err)")
        }
        // A wiretape.yaml in the tape's folder is not ours either, unless we are there.
        _ = try TapeFiles.write(["defaults: { replay: { report: '\(victim)' } }"], "wiretape.yaml", in: scratch)
        #expect(!(try Binary.run("config", tape)).out.contains("# \(scratch.path("wiretape.yaml"))"))
    }
}
