internal import WiretapeBytes
package import WiretapeRedaction

extension OptionGroup {
    /// What is redacted: `record`, `redact` and `scan`.
    package static let redaction = OptionGroup("Redaction", [redact, keep])

    /// A replay takes it too: of what stands in these places nothing is told.
    package static let redact = OptionSpec(
        "redact", "WHAT", redactKind, repeatable: true, default: "on",
        "on, off, or a place where secrets stand besides the known ones: header:NAME, query:NAME, cookie:NAME, json:NAME, "
            + "json:/pointer, regex:PATTERN. off writes credentials to the tape; a replay never tells them.")

    package static let keep = OptionSpec(
        "keep", "RULE", .checked(suggestions: []) { _ = try RedactionRule(parsing: $0) }, repeatable: true,
        "A place whose value stays although it would be redacted, spelled as for --redact: header:X-Api-Key.")

    private static let redactKind = ValueKind.checked(suggestions: ["on", "off"]) { text in
        if text != "on", text != "off" { _ = try RedactionRule(parsing: text) }
    }
}

/// What `--redact` and `--keep` ask for.
package struct RedactionChoice {
    /// Nil: nothing is redacted.
    package let rules: RedactionRules?
    private let kept: [String]

    /// - Throws: when `--keep` is asked for and nothing is redacted.
    package init(_ arguments: ParsedArguments) throws(UsageError) {
        let asked = arguments.all("redact")
        kept = arguments.all("keep")
        // The command line stands before the settings: its word counts.
        let isOff = asked.first { $0 == "on" || $0 == "off" } == "off"
        guard !isOff else {
            if let rule = kept.first { throw arguments.error("--keep \(rule) has no meaning with --redact off") }
            rules = nil
            return
        }
        do throws(OptionError) {
            var own: [RedactionRule] = []
            for text in asked where text != "on" && text != "off" { own.append(try RedactionRule(parsing: text)) }
            var keeping: [RedactionRule] = []
            for text in kept { keeping.append(try RedactionRule(parsing: text)) }
            rules = RedactionRules(own, keeping: keeping)
        } catch {
            throw arguments.error(error.message)
        }
    }

    /// The known places, and nothing of the user's.
    package static let standard = RedactionChoice()

    private init() {
        rules = RedactionRules()
        kept = []
    }

    /// The header's `redaction`.
    package var name: String {
        guard let rules else { return "none" }
        return rules.isOwn || !kept.isEmpty ? "rules" : "default"
    }

    /// A URL without a password.
    package func without(_ url: String) -> String {
        guard let rules else { return url }
        var redactor = Redactor(rules)
        return redactor.text(url)
    }

    /// Says loudly what will stand on the tape in spite of all.
    package func warn(_ log: Log, _ tape: String) {
        if rules == nil {
            log.warning("WARNING: --redact off: \(tape) will hold all that passes, passwords, tokens and cookies too")
        } else if !kept.isEmpty {
            log.warning("WARNING: --keep \(kept.joined(separator: ", ")): \(tape) will hold these values as they pass")
        }
    }
}
