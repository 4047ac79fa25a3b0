internal import WiretapeBytes
internal import WiretapeSystem
package import WiretapeWire

/// How a run ended: the last line on standard error and the exit code.
package struct Verdict: Hashable, Sendable {
    package enum Word: String, Sendable { case done, pass, diverged, failed, stopped, timeout }

    package var word: Word
    package var code: Int32
    /// Without its full stop. It may have come from outside, and stays on its line.
    package var reason: String

    package init(_ word: Word, _ code: Int32, _ reason: String) {
        self.word = word
        self.code = code
        self.reason = reason
    }

    /// `wiretape: pass (exit 0): 2 sessions, 24 messages`
    package var text: String {
        "wiretape: \(word.rawValue) (exit \(code)): \(TerminalText.line(StandardInput.named(reason)))\n"
    }

    /// Writes the line.
    /// - Returns: the exit code.
    package func tell() -> Int32 {
        Console.error.write(text)
        return code
    }
}

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
