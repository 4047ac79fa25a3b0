internal import WiretapeCore
internal import WiretapeSystem

extension Verdict {
    /// Writes the line and, with `--json`, its twin on standard output.
    /// - Returns: the exit code.
    func tell(_ arguments: ParsedArguments) -> Int32 {
        if arguments.has("json") {
            let value = JSONValue.object([
                .init("event", .string("end")), .init("verdict", .string(word.rawValue)), .init("exit", .number(code)),
                .init("reason", .string(reason)),
            ])
            Console.output.writeJSON(value.text + "\n")
        }
        return tell()
    }
}
