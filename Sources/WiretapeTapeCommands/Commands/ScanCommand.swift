internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeRecorder
internal import WiretapeRedaction
internal import WiretapeSystem
internal import WiretapeTapeTools
internal import WiretapeWire

/// `wiretape scan FILE…`.
package struct ScanCommand: Command {
    package static let spec = CommandSpec(
        name: "scan", abstract: "Look for secrets on tapes",
        discussion: """
            Names every place of a tape where a secret stands: what 'wiretape record' would have replaced, and what is as random \
            as a key ('entropy', which 'wiretape redact' leaves unless --redact names its place). Of a secret the first four \
            characters are shown, of one shorter than 20 bytes none. Pseudonyms are no secrets. Exit code 3 when something was found. \
            Standard error lists parts that cannot be searched, such as HTTP/2.
            """,
        positionals: [PositionalSpec("FILE", .file, repeatable: true, "The tapes; - is standard input.")],
        groups: [
            OptionGroup(
                "Options",
                [
                    OptionSpec(switch: "json", "Print an object a finding."),
                    OptionSpec(
                        switch: "strict", "Also fail (exit 3) if part of a tape cannot be searched for secrets."),
                    OptionGroup.redact, OptionGroup.keep,
                    OptionGroup.config, OptionGroup.fileMemory,
                ])
        ],
        examples: [
            ExampleSpec("wiretape scan recordings/*.tape", "Asks, in a pipeline, whether tapes may be committed.")
        ], exitCodes: [.failure, .secretFound, .badFile])

    private let paths: [String]
    private let rules: RedactionRules
    private let isJSON: Bool
    private let isStrict: Bool
    private let longestLine: Int
    private let log: Log

    /// What was told of.
    private final class Unseen {
        var count = 0
    }

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        paths = try arguments.positionals.map { path throws(UsageError) in try StandardInput.again(path, arguments) }
        guard let rules = try RedactionChoice(arguments).rules else {
            throw arguments.error("--redact off leaves nothing to look for")
        }
        self.rules = rules
        isJSON = arguments.has("json")
        isStrict = arguments.has("strict")
        log = Log(arguments)
        longestLine = TapeCanon.longestLine(memory: arguments.memory)
    }

    package func run() throws -> Int32 {
        var found = 0
        var random = 0
        var tapes = 0
        let unseen = Unseen()
        let log = log
        for path in paths {
            let before = found
            let tell = { (sentence: String) in
                unseen.count += 1
                log.warning("\(path): \(sentence)")
            }
            _ = try TapeScan.run(path, rules, longestLine: longestLine, tell: tell) { finding in
                found += 1
                if finding.secret.kind == .entropy { random += 1 }
                print(finding, path)
            }
            if found > before { tapes += 1 }
        }
        let files = "\(paths.count) tape\(paths.count == 1 ? "" : "s")"
        let rest = unseen.count > 0 ? "; \(unseen.count) part\(unseen.count == 1 ? "" : "s") could not be searched" : ""
        guard found > 0 else {
            guard unseen.count > 0 else { return Verdict(.done, 0, "no secret on \(files)").tell() }
            let text = "no secret in what could be read of \(files)\(rest)"
            return (isStrict ? Verdict(.failed, ExitCode.secretFound.code, text) : Verdict(.done, 0, text)).tell()
        }
        return Verdict(
            .failed, ExitCode.secretFound.code,
            "\(found) secret\(found == 1 ? "" : "s") on \(tapes) of \(files)\(rest); \(Self.advice(found, random))"
        ).tell()
    }

    /// - Parameter random: those of them that are only as random as a key.
    private static func advice(_ found: Int, _ random: Int) -> String {
        let places = "`wiretape redact` leaves what is only as random as a key: name its place with --redact"
        if random == found { return places }
        return "`wiretape redact` takes them out"
            + (random == 0 ? "" : ", \(random) of them where --redact names the place")
    }

    private func print(_ finding: TapeScan.Finding, _ path: String) {
        let secret = finding.secret
        if isJSON {
            let object = JSONValue.object([
                .init("file", .string(StandardInput.named(path))), .init("line", .number(finding.line)),
                .init("event", .number(finding.event)),
                .init("c", .number(finding.connection)), .init("e", .string(finding.kind)),
                .init("kind", .string(secret.kind.rawValue)), .init("place", .string(secret.place)),
                .init("shown", .string(secret.masked)),
            ])
            return Console.output.writeJSON(object.text + "\n")
        }
        let place = secret.place.isEmpty ? secret.kind.rawValue : "\(secret.kind.rawValue) \(secret.place)"
        let text = "\(StandardInput.named(path)):\(finding.line)  \(finding.kind)  \(place)  \(secret.masked)"
        Console.output.write(TerminalText.line(text) + "\n")
    }
}
