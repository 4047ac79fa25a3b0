internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeTape
internal import WiretapeTapeTools

/// `wiretape warp FILE --scale 0.1`.
package struct WarpCommand: Command {
    package static let spec = CommandSpec(
        name: "warp", abstract: "Change the times of a tape",
        discussion: """
            Scales the time between events, and holds it between a shortest and a longest gap. What happened at one time stays \
            together, and the order never changes. 'wiretape replay --speed' and '--idle-cap' do the like for one run.
            """,
        positionals: [EditedTape.file],
        groups: [
            OptionGroup(
                "Times",
                [
                    OptionSpec("scale", "N", scaleKind, "Multiply every gap by this number: 0.1, 2."),
                    OptionSpec("longest", "D", .duration, "Let no gap be longer."),
                    OptionSpec("shortest", "D", .duration, "Let no gap be shorter, but for what happened at one time."),
                ]),
            OptionGroup("Output", [EditedTape.output, EditedTape.force, OptionGroup.fileMemory]),
        ],
        examples: [
            ExampleSpec("wiretape warp chat.tape --longest 1s", "Takes the waiting out."),
            ExampleSpec("wiretape warp chat.tape --scale 0.1 -o fast.tape", "Makes a tape ten times as fast."),
        ], exitCodes: [.failure, .badFile])

    private static let scaleKind = ValueKind.checked(suggestions: []) { _ = try scale($0) }

    private static func scale(_ text: String) throws(OptionError) -> Double {
        guard let scale = Double(text), scale.isFinite, scale >= 0 else {
            throw OptionError("'\(text)' is no factor such as 0.1 or 2")
        }
        return scale
    }

    private let path: String
    private let choice: TapeWarp.Choice
    private let output: EditedTape
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        output = try EditedTape(arguments)
        longestLine = TapeLineReader.longestLine(memory: arguments.memory)
        var choice = TapeWarp.Choice()
        if let text = arguments.value("scale"), let scale = try? Self.scale(text) { choice.scale = scale }
        choice.longest = arguments.duration("longest") ?? .max
        choice.shortest = arguments.duration("shortest") ?? 0
        self.choice = choice
        guard ["scale", "longest", "shortest"].contains(where: { arguments.has($0) }) else {
            throw arguments.error("nothing says how the times change: name --scale, --longest or --shortest")
        }
        guard choice.shortest <= choice.longest else { throw arguments.error("--shortest is more than --longest") }
    }

    package func run() throws -> Int32 {
        var warp = TapeWarp(choice)
        do {
            try TapeRewrite.run(path, to: output.target, longestLine: longestLine) {
                try warp.change(try EditedTape.whole($0, of: path))
            }
        } catch let fault as TapeEdit.Fault {
            throw Failure("\(path): \(fault)")
        }
        return Verdict(.done, 0, "\(output.name): takes \(DurationText.describe(warp.duration)) now").tell()
    }
}
