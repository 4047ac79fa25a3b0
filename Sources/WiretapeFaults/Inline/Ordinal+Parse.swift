extension Ordinal {
    /// `N`, `N..N`, `N..`, `N|N|…`, `every N`.
    init(parsing text: inout RuleText) throws(PlanError) {
        text.skipBlanks()
        let start = text.at
        if text.peekWord() == "every" {
            _ = text.word()
            text.skipBlanks()
            self = .every(try Ordinal.number(&text))
            return
        }
        var values = [try Ordinal.number(&text)]
        if text.next == "." {
            guard text.take("."), text.next == ".", text.take(".") else { throw text.error("a range is written 2..5") }
            guard text.next?.isNumber == true else {
                self = .from(values[0])
                return
            }
            let last = try Ordinal.number(&text)
            guard values[0] <= last else { throw text.error("the range \(values[0])..\(last) is empty", at: start) }
            self = .range(values[0]...last)
            return
        }
        while text.take("|") { values.append(try Ordinal.number(&text)) }
        self = .set(values)
    }

    /// From the text alone, as in YAML.
    init(_ string: String, _ text: RuleText, at place: Int) throws(PlanError) {
        var own = RuleText(string, from: text.position(place))
        self = try Ordinal(parsing: &own)
        own.skipBlanks()
        guard own.isAtEnd else { throw own.error("'\(string)' is not an ordinal such as 3, 2..5, 2.., 1|4 or every 3") }
    }

    private static func number(_ text: inout RuleText) throws(PlanError) -> Int {
        text.skipBlanks()
        let start = text.at
        let digits = text.run { $0.isASCII && $0.isNumber }
        guard let value = Int(digits), value >= 1 else {
            let found = digits.isEmpty ? text.next.map { "'\($0)'" } ?? "the end" : "'\(digits)'"
            throw text.error("expected a number from 1, found \(found)", at: start)
        }
        return value
    }
}
