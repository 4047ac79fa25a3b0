internal import WiretapeBytes

/// Reads the words after a command's name by its declaration: `--opt value`, `--opt=value`, `-o value`, `-ovalue`,
/// options and positional arguments in any order, `--` before words that are none of ours.
package struct ArgumentParser {
    package enum Outcome: Hashable {
        case help
        case arguments(ParsedArguments)
    }

    private let spec: CommandSpec
    private var words: ArraySlice<String>
    private var parsed: ParsedArguments

    private init(_ spec: CommandSpec, _ words: [String]) {
        self.spec = spec
        self.words = words[...]
        var defaults: [String: String] = [:]
        for option in spec.options { defaults[option.name] = option.defaultValue }
        parsed = ParsedArguments(command: spec.name, values: [:], defaults: defaults, positionals: [], tail: nil)
    }

    /// - Parameters:
    ///   - words: what was written after the command's name.
    ///   - fill: adds what settings say, before it is checked that nothing is missing.
    package static func parse(
        _ words: [String], as spec: CommandSpec,
        filling fill: (ParsedArguments) throws(UsageError) -> ParsedArguments = { $0 }
    ) throws(UsageError) -> Outcome {
        var parser = ArgumentParser(spec, words)
        return try parser.run(fill)
    }

    private mutating func run(
        _ fill: (ParsedArguments) throws(UsageError) -> ParsedArguments
    ) throws(UsageError) -> Outcome {
        while let word = words.popFirst() {
            if word == "--" {
                try readTail()
                break
            }
            if word == "-h" || word == "--help" { return .help }
            if word.hasPrefix("--") {
                try readLong(word)
            } else if word.hasPrefix("-"), word != "-", !isNumber(word) {
                try readShort(word)
            } else {
                try readPositional(word)
            }
        }
        parsed = try fill(parsed)
        try checkRequired()
        return .arguments(parsed)
    }

    private mutating func readTail() throws(UsageError) {
        if spec.tail != nil {
            if words.isEmpty { throw fail("nothing follows '--'; write the command to run there") }
            parsed.tail = Array(words)
        } else {
            for word in words { try readPositional(word) }
        }
    }

    private mutating func readLong(_ word: String) throws(UsageError) {
        let body = word.dropFirst(2)
        let equals = body.firstIndex(of: "=")
        let name = String(equals.map { body[..<$0] } ?? body)
        guard let option = spec.option(name) else {
            throw fail("unknown option '--\(name)' of \(spec.name)\(hint(name))")
        }
        try take(option, written: "--" + name, attached: equals.map { String(body[body.index(after: $0)...]) })
    }

    /// The option that may have been meant.
    private func hint(_ name: String) -> String {
        let known = spec.options.filter { $0.missing == nil }.map { "--" + $0.name }
        if let meant = ForeignWords.meaning(of: name, in: ForeignWords.options), known.contains("--" + meant) {
            return "; did you mean '--\(meant)'?"
        }
        return NearestName.hint("--" + name, among: known)
    }

    private mutating func readShort(_ word: String) throws(UsageError) {
        let letter = word[word.index(after: word.startIndex)]
        guard let option = spec.options.first(where: { $0.short == letter }) else {
            let long = spec.options.filter { $0.missing == nil }.map(\.name)
            let body = String(word.dropFirst())
            let near = long.contains(body) ? body : NearestName.find(body, among: long)
            let meant = near.map { "; did you mean '--\($0)'?" } ?? ""
            throw fail("unknown option '\(word)' of \(spec.name)\(meant)")
        }
        var rest = word.dropFirst(2)
        if rest.first == "=" { rest = rest.dropFirst() }
        try take(option, written: "-\(letter)", attached: word.count > 2 ? String(rest) : nil)
    }

    private mutating func take(_ option: OptionSpec, written: String, attached: String?) throws(UsageError) {
        if let missing = option.missing { throw fail("\(written) is not built yet: \(missing)") }
        var value = ""
        if let valueName = option.valueName {
            if let attached {
                value = attached
            } else {
                value = try following(written, valueName)
            }
            if let complaint = option.kind.complaint(about: value) {
                throw fail(complaint.hasPrefix("--") ? complaint : "\(written): \(complaint)")
            }
        } else if attached != nil {
            throw fail("\(written) takes no value")
        }
        if parsed.values[option.name] != nil, !option.isRepeatable, option.valueName != nil {
            throw fail("\(written) is given twice")
        }
        parsed.values[option.name, default: []].append(value)
    }

    /// The value in the next word.
    private mutating func following(_ written: String, _ valueName: String) throws(UsageError) -> String {
        guard let next = words.first, next != "--" else {
            throw fail("\(written) needs a value: \(written) \(valueName)")
        }
        if next.hasPrefix("--"), spec.option(String(next.dropFirst(2).prefix { $0 != "=" })) != nil {
            throw fail("\(written) needs a value: \(written) \(valueName), and '\(next)' is an option")
        }
        words.removeFirst()
        return next
    }

    private mutating func readPositional(_ word: String) throws(UsageError) {
        let place = parsed.positionals.count
        let last = spec.positionals.last
        let known = place < spec.positionals.count ? spec.positionals[place] : last?.isRepeatable == true ? last : nil
        guard let known else {
            if spec.positionals.isEmpty { throw fail("\(spec.name) takes no argument, and '\(word)' is one") }
            throw fail("'\(word)' is one argument too many for \(spec.name)")
        }
        if let complaint = known.kind.complaint(about: word) { throw fail("\(known.name): \(complaint)") }
        parsed.positionals.append(word)
    }

    private func checkRequired() throws(UsageError) {
        if parsed.positionals.count < spec.positionals.count(where: \.isRequired) {
            throw fail("\(spec.name) needs \(spec.positionals[parsed.positionals.count].name)")
        }
        let absent = spec.options.filter { $0.isRequired && !parsed.has($0.name) }
        if absent.isEmpty { return }
        let names = absent.map { "--\($0.name) \($0.valueName ?? "")" }
        throw fail("\(spec.name) needs \(names.joined(separator: " and "))")
    }

    private func isNumber(_ word: String) -> Bool { word.dropFirst().allSatisfy { $0.isNumber || $0 == "." } }

    private func fail(_ message: String) -> UsageError { UsageError(message, command: spec.name) }
}
