extension RuleFilters {
    /// `{ filter }` up to the end of the rule.
    /// - Parameter mayName: nothing was named before, so a stray word may be meant as a place.
    mutating func parse(_ text: inout RuleText, mayName: Bool) throws(PlanError) {
        while true {
            text.skipBlanks()
            guard !text.isAtEnd else { return }
            let start = text.at
            let word = text.word()
            switch word {
            case "in":
                text.skipBlanks()
                let keyAt = text.at
                let key = text.word()
                guard let path = Selector.ordinalKey(key) else {
                    let names = ["session", "attempt", "retry"]
                    let hint = NearestName.hint(key, among: names)
                    throw text.error("'in' takes session=, attempt= or retry=, not '\(key)'\(hint)", at: keyAt)
                }
                try text.require("=", after: "'in \(key)'")
                guard self[keyPath: path] == nil else { throw text.error("a second '\(key)'", at: keyAt) }
                self[keyPath: path] = try Ordinal(parsing: &text)
            case "p":
                try text.require("=", after: "'p'")
                text.skipBlanks()
                let valueAt = text.at
                let digits = text.run { $0.isNumber || $0 == "." || $0 == "-" }
                probability = try RuleFilters.probability(digits, text, at: valueAt)
            case "max":
                try text.require("=", after: "'max'")
                text.skipBlanks()
                let valueAt = text.at
                let digits = text.run { $0.isNumber || $0 == "-" }
                self.max = try RuleFilters.firings(digits, text, at: valueAt)
            case "since":
                throw text.error("'since' is not built yet", at: start)
            default:
                throw text.error(RuleFilters.stray(word, text.next, mayName: mayName), at: start)
            }
        }
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
        let words = (mayName ? ["before", "after", "on"] : []) + ["in", "p", "max", "since"]
        let hint = NearestName.hint(word, among: words)
        return "'\(word)' does not belong here" + (hint.isEmpty ? "; expected \(words.joined(separator: ", "))" : hint)
    }

    /// ` in session=2 p=0.2 max=3`, or nothing. Attempts and retries stand in the selector's brackets.
    var inline: String {
        var text = ""
        if let session { text += " in session=\(session)" }
        if probability < 1 { text += " p=\(probability)" }
        if let max { text += " max=\(max)" }
        return text
    }
}
