internal import WiretapeBytes
internal import WiretapeWire

/// What stands in the brackets of an action: `(503, Retry-After=1, "later")`.
struct FaultArguments {
    struct Argument {
        package var key: String?
        package var value: String
        package var isQuoted = false
        /// Where it stands.
        package var at: Int
    }

    package var word: String
    package var at: Int
    package var arguments: [Argument] = []

    init(parsing text: inout RuleText, of word: String, at start: Int) throws(PlanError) {
        self.word = word
        at = start
        guard text.next == "(" else { return }
        _ = text.take("(")
        if text.take(")") { return }
        repeat {
            text.skipBlanks()
            arguments.append(try FaultArguments.argument(&text))
        } while text.take(",")
        try text.require(")", after: "the arguments of '\(word)'")
    }

    private static func argument(_ text: inout RuleText) throws(PlanError) -> Argument {
        let start = text.at
        guard text.next != "\"" else { return Argument(value: try text.quoted(), isQuoted: true, at: start) }
        let first = text.run { !",()=\"".contains($0) }.trimmingBlanks()
        guard text.next == "=" else {
            guard !first.isEmpty else { throw text.error("an argument is empty", at: start) }
            return Argument(value: first, at: start)
        }
        _ = text.take("=")
        text.skipBlanks()
        guard text.next != "\"" else {
            return Argument(key: first, value: try text.quoted(), isQuoted: true, at: start)
        }
        // The value of a JSON Pointer may be anything.
        let value = first.hasPrefix("/") ? text.json(until: ",)") : text.run { !",()\"".contains($0) }.trimmingBlanks()
        return Argument(key: first, value: value, at: start)
    }

    /// - Throws: when there is an argument at all.
    func requireNone(_ text: RuleText) throws(PlanError) {
        guard let first = arguments.first else { return }
        throw text.error("'\(word)' takes no arguments", at: first.at)
    }

    /// A text as an argument: bare when that reads back the same.
    static func spelled(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.allSatisfy { !",()=\"".contains($0) && !$0.isWhitespace }
        return isPlain ? value : JSONValue.string(value).text
    }
}
