import Testing
internal import WiretapeCommandLine
import WiretapeCommands

@Suite struct ArgumentParserTests {
    static let spec = CommandSpec(
        name: "play", abstract: "Play", discussion: "Plays.",
        positionals: [PositionalSpec("FILE", .file, "The tape.")],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec("output", short: "o", "FILE", .file, "Where to."),
                    OptionSpec("listen", "URL", repeatable: true, default: "127.0.0.1:0", "Where."),
                    OptionSpec("grace", "D", .duration, default: "500ms", "How long."),
                    OptionSpec("threads", "N", .count(1...64), default: "1", "Loops."),
                    OptionSpec("match", "HOW", .choice(["relaxed", "strict", "off"]), "How."),
                    OptionSpec(switch: "json", "Machine lines."),
                    .missing("config", "settings files come later"),
                ])
        ], tail: TailSpec("Run with it."))

    func parse(_ line: String) throws -> ParsedArguments {
        let words = line.split(separator: " ").map(String.init)
        guard case .arguments(let parsed) = try ArgumentParser.parse(words, as: Self.spec) else {
            throw UsageError("help")
        }
        return parsed
    }

    func complaint(_ line: String) -> String? {
        do {
            _ = try parse(line)
            return nil
        } catch let error as UsageError {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: ["-o x a.tape", "a.tape -ox", "--output x a.tape", "a.tape --output=x", "-o=x a.tape"])
    func everySpellingOfAValue(_ line: String) throws {
        let parsed = try parse(line)
        #expect(parsed.value("output") == "x")
        #expect(parsed.positionals == ["a.tape"])
    }

    @Test func defaultsAndRepetition() throws {
        let parsed = try parse("a --json --listen :1 --listen=:2")
        #expect(parsed.all("listen") == [":1", ":2"])
        #expect(parsed.has("json"))
        #expect(parsed.duration("grace") == 500_000_000)
        #expect(parsed.count("threads") == 1)
        #expect(!parsed.has("threads"))
        #expect(try parse("a").all("listen") == ["127.0.0.1:0"])
        #expect(parsed.value("match") == nil)
    }

    @Test func whatFollowsTwoDashesIsTheCommand() throws {
        let parsed = try parse("a --json -- npm test --json -- x")
        #expect(parsed.tail == ["npm", "test", "--json", "--", "x"])
    }

    @Test func dashAloneAndNumbersAreArguments() throws {
        #expect(try parse("-").positionals == ["-"])
        #expect(try parse("-1").positionals == ["-1"])
    }

    @Test func helpWinsOverMistakesAfterIt() throws {
        #expect(try ArgumentParser.parse(["--help", "--what"], as: Self.spec) == .help)
        #expect(try ArgumentParser.parse(["-h"], as: Self.spec) == .help)
    }

    @Test(arguments: [
        ("a --outptu x", "unknown option '--outptu' of play; did you mean '--output'?"),
        ("a --zzzzzz", "unknown option '--zzzzzz' of play"),
        ("a -x", "unknown option '-x' of play"),
        ("a -json", "unknown option '-json' of play; did you mean '--json'?"),
        ("a --output", "--output needs a value: --output FILE"),
        ("a --output --json", "--output needs a value: --output FILE, and '--json' is an option"),
        ("a --json=yes", "--json takes no value"),
        ("a -o x -o y", "-o is given twice"),
        ("a --grace 5", "--grace: '5' is no duration; write 250ms, 2s or 1m"),
        ("a --threads 0", "--threads: '0' is no whole number (1 to 64)"),
        ("a --match stirct", "--match: 'stirct' is none of relaxed, strict, off; did you mean 'strict'?"),
        ("a --config x", "--config is not built yet: settings files come later"),
        ("", "play needs FILE"),
        ("a b", "'b' is one argument too many for play"),
        ("a --", "nothing follows '--'; write the command to run there"),
    ])
    func mistakesNameWhatWasMeant(_ line: String, _ message: String) {
        #expect(complaint(line) == message)
    }
}
