internal import WiretapeBytes

extension RuleFilters {
    /// `{ filter }` up to the end of the rule.
    /// - Parameters:
    ///   - optional: set when the rule says that it is optional.
    ///   - mayName: nothing was named before, so a stray word may be meant as a place.
    mutating func parse(_ text: inout RuleText, optional: inout Bool, mayName: Bool) throws(PlanError) {
        while true {
            text.skipBlanks()
            guard !text.isAtEnd else { return }
            let start = text.at
            let word = text.word()
            switch word {
            case "in": try parseIn(&text)
            case "p":
                try text.require("=", after: "'p'")
                text.skipBlanks()
                let valueAt = text.at
                let digits = text.run { !$0.isWhitespace }
                probability = try RuleFilters.probability(digits, text, at: valueAt)
            case "max":
                try text.require("=", after: "'max'")
                text.skipBlanks()
                let valueAt = text.at
                let digits = text.run { !$0.isWhitespace }
                self.max = try RuleFilters.firings(digits, text, at: valueAt)
            case "since": try parseSince(&text, at: start)
            case "optional": optional = try RuleFilters.optional(&text)
            default:
                throw text.error(RuleFilters.stray(word, text.next, mayName: mayName), at: start)
            }
        }
    }

    /// Reads what follows the word `optional`: nothing, `: true` or `=true`.
    private static func optional(_ text: inout RuleText) throws(PlanError) -> Bool {
        guard text.take(":") || text.take("=") else { return true }
        text.skipBlanks()
        let start = text.at
        switch text.word() {
        case "true": return true
        case "false": return false
        default: throw text.error("'optional' stands alone, or is true or false", at: start)
        }
    }

    private mutating func parseIn(_ text: inout RuleText) throws(PlanError) {
        text.skipBlanks()
        let keyAt = text.at
        let key = text.word()
        guard let path = Selector.ordinalKey(key) else {
            let hint = NearestName.hint(key, among: ["session", "attempt", "retry"])
            throw text.error("'in' takes session=, attempt= or retry=, not '\(key)'\(hint)", at: keyAt)
        }
        try text.require("=", after: "'in \(key)'")
        guard self[keyPath: path] == nil else { throw text.error("a second '\(key)'", at: keyAt) }
        self[keyPath: path] = try Ordinal(parsing: &text)
    }

    private mutating func parseSince(_ text: inout RuleText, at start: Int) throws(PlanError) {
        guard since == nil else { throw text.error("a second 'since'", at: start) }
        text.skipBlanks()
        let markAt = text.at
        let mark = text.word()
        try text.require("=", after: "'since \(mark)'")
        text.skipBlanks()
        let valueAt = text.at
        let value = text.run { !$0.isWhitespace }
        since = Since(
            try RuleFilters.mark(mark, text, at: markAt), try RuleFilters.gap(value, text, at: valueAt))
    }

    static func mark(_ mark: String, _ rule: RuleText, at place: Int) throws(PlanError) -> Since.Mark {
        guard let known = Since.Mark(rawValue: mark) else {
            let hint = NearestName.hint(mark, among: Since.Mark.allCases.map(\.rawValue))
            throw rule.error("'since' takes run=, connect= or handshake=, not '\(mark)'\(hint)", at: place)
        }
        return known
    }

    static func gap(_ value: String, _ rule: RuleText, at place: Int) throws(PlanError) -> UInt64 {
        guard let gap = DurationText.parse(value) else {
            throw rule.error("'\(value)' is not a duration such as 250ms, 2s or 1m", at: place)
        }
        return gap
    }

    static func scope(_ value: String, _ rule: RuleText, at place: Int) throws(PlanError) -> Scope {
        guard let scope = Scope(rawValue: value) else {
            let hint = NearestName.hint(value, among: Scope.allCases.map(\.rawValue))
            throw rule.error("'per' is session, connection or run, not '\(value)'\(hint)", at: place)
        }
        return scope
    }

    static func probability(_ text: String, _ rule: RuleText, at place: Int) throws(PlanError) -> Double {
        guard let value = Double(text), (0...1).contains(value) else {
            throw rule.error("'\(text)' is not a probability from 0 to 1", at: place)
        }
        return value
    }

    static func firings(_ text: String, _ rule: RuleText, at place: Int) throws(PlanError) -> Int {
        guard let value = Int(text), value >= 1 else {
            throw rule.error("'\(text)' is not a number of firings from 1", at: place)
        }
        return value
    }

    private static func stray(_ word: String, _ next: Character?, mayName: Bool) -> String {
        guard !word.isEmpty else { return "'\(next ?? " ")' does not belong here" }
        let words = (mayName ? ["before", "after", "on"] : []) + ["in", "p", "max", "since", "optional"]
        let hint = NearestName.hint(word, among: words)
        return "'\(word)' does not belong here" + (hint.isEmpty ? "; expected \(words.joined(separator: ", "))" : hint)
    }

    /// ` in session=2 p=0.2 max=3 since run=5s`, or nothing. Attempts and retries stand in the selector's brackets, when
    /// there is one.
    package func inline(hasSelector: Bool) -> String {
        var text = ""
        if let session { text += " in session=\(session)" }
        if !hasSelector {
            if let attempt { text += " in attempt=\(attempt)" }
            if let retry { text += " in retry=\(retry)" }
        }
        if probability < 1 { text += " p=\(probability)" }
        if let max { text += " max=\(max)" }
        if let since { text += " since \(since.mark.rawValue)=\(DurationText.describe(since.gap))" }
        return text
    }
}
