internal import WiretapeSystem
package import WiretapeWire

extension Verdict {
    /// Writes the line and, with `--json`, its twin on standard output.
    /// - Returns: the exit code.
    package func tell(_ arguments: ParsedArguments) -> Int32 {
        if arguments.has("json") {
            Console.output.writeJSON(JSONValue.object([.init("event", .string("end"))] + members).text + "\n")
        }
        return tell()
    }

    package var members: [JSONValue.Member] {
        [.init("verdict", .string(word.rawValue)), .init("exit", .number(code)), .init("reason", .string(reason))]
    }
}
