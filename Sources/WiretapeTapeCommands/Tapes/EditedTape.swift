package import WiretapeCommandLine
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools

/// Where a command that changes a tape puts it: its own place, or `--output`.
package struct EditedTape {
    static let file = PositionalSpec(
        "FILE", .file,
        "The tape; it is changed in its place. - is standard input, and the tape goes to standard output.")
    static let output = OptionSpec("output", short: "o", "FILE", .file, "Write the tape there and leave FILE alone.")
    package static let force = OptionSpec(switch: "force", "Write over an output that is there.")

    var target: TapeRewrite.Target
    /// As messages call it.
    var name: String

    init(_ arguments: ParsedArguments) throws(UsageError) {
        let path = arguments.positionals[0]
        let force = arguments.has("force")
        name = arguments.value("output") ?? path
        switch arguments.value("output") {
        case nil:
            if force { throw arguments.error("--force is for an --output that is there") }
            // What has no place goes on.
            target = path == "-" ? .sink(ConsoleSink(), isCompressed: false) : .place
        case "-"?: target = .sink(ConsoleSink(), isCompressed: false)
        case let output?:
            if File.resolved(output) == File.resolved(path) {
                throw arguments.error("--output is FILE itself; leave it out to change the tape in its place")
            }
            target = .file(output, force: force)
        }
    }

    /// The line, when it can be copied with its meaning.
    static func whole(_ line: TapeLine, of path: String) throws(TapeError) -> TapeLine {
        guard case .bad(let fault) = line.what else { return line }
        throw TapeError(
            .badLine, file: path, event: line.number,
            "line \(line.line), column \(fault.offset + 1): \(fault.reason); see `wiretape validate \(path)`")
    }
}
