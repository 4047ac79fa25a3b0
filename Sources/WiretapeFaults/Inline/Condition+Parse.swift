internal import WiretapeBytes
internal import WiretapeWire

extension Condition {
    /// One condition with its value as text; the value of a pointer is JSON.
    /// - Throws: at the key or at the value, with what was meant.
    init(_ key: String, _ value: String, _ text: RuleText, at start: Int, valueAt: Int) throws(PlanError) {
        if key.hasPrefix("/") {
            guard let json = try? JSONValue(parsing: value) else {
                throw text.error("'\(value)' is not JSON; texts stand in quotes: \(key)=\"\(value)\"", at: valueAt)
            }
            self = .pointer(key, json)
            return
        }
        if key.hasPrefix("header.") {
            let name = String(key.dropFirst(7))
            guard RespondFault.isToken(name) else {
                throw text.error("'\(name)' cannot be the name of a header field", at: start)
            }
            self = .header(name, value == "*" ? nil : value)
            return
        }
        switch key {
        case "direction":
            self = .direction(
                try Condition.word(value, ["toClient": .toClient, "toServer": .toServer], key, text, valueAt))
        case "by":
            self = .endedBy(try Condition.word(value, ["server": .toClient, "client": .toServer], key, text, valueAt))
        case "protocol": self = .protocol(value)
        case "transport": self = .transport(try Condition.transports(value, text, at: valueAt))
        case "type": self = .type(value)
        case "target": self = .named(.target, value)
        case "event": self = .named(.event, value)
        case "operation": self = .named(.operation, value)
        case "channel": self = .named(.channel, value)
        case "invocation": self = .invocation(value)
        case "regex": self = .regex(try Condition.pattern(value, text, at: valueAt))
        case "size": self = .size(try Condition.range(value, text, at: valueAt))
        case "method": self = .method(value)
        case "path": self = .path(value)
        case "token":
            guard value == "stale" else {
                throw text.error("'\(value)' is not known of a token; write token=stale", at: valueAt)
            }
            self = .staleToken
        case "listener": self = .listener(value)
        case "code":
            guard let code = UInt16(value) else { throw text.error("'\(value)' is not a close code", at: valueAt) }
            self = .code(code)
        case "header": throw text.error("the header's name is missing: header.Authorization=…", at: start)
        default: throw text.error("'\(key)' is not a condition\(Selector.hint(key))", at: start)
        }
    }

    /// Every key but pointers and `header.…`.
    package static let keys = RuleWord.conditions.map(\.term)

    private static func word<Value>(
        _ value: String, _ words: [String: Value], _ key: String, _ text: RuleText, _ at: Int
    ) throws(PlanError) -> Value {
        if let meant = words[value] { return meant }
        let names = words.keys.sorted()
        throw text.error(
            "'\(value)' is not a \(key == "by" ? "side" : key); use \(names.joined(separator: " or "))", at: at)
    }

    private static func transports(_ value: String, _ text: RuleText, at: Int) throws(PlanError) -> [Transport] {
        var transports: [Transport] = []
        for word in value.split(separator: "|", omittingEmptySubsequences: false) {
            guard let transport = Transport(rawValue: String(word)) else {
                let names = Transport.allCases.map(\.rawValue)
                throw text.error("'\(word)' is not a transport; use \(names.joined(separator: ", "))", at: at)
            }
            transports.append(transport)
        }
        return transports
    }

    private static func pattern(_ value: String, _ text: RuleText, at: Int) throws(PlanError) -> Pattern {
        do throws(Pattern.Fault) {
            return try Pattern(value)
        } catch {
            throw text.error("'\(value)' is no regular expression: \(error.reason)", at: at)
        }
    }

    /// `100`, `100..200`, `>100`, `<100`.
    private static func range(_ value: String, _ text: RuleText, at: Int) throws(PlanError) -> ClosedRange<Int> {
        if let exact = Int(value), exact >= 0 { return exact...exact }
        if value.hasPrefix(">"), let low = Int(value.dropFirst()), low >= 0, low < .max { return (low + 1)...Int.max }
        if value.hasPrefix("<"), let high = Int(value.dropFirst()), high >= 1 { return 0...(high - 1) }
        if let dots = value.firstRange(of: ".."), let low = Int(value[..<dots.lowerBound]),
            let high = Int(value[dots.upperBound...]), low >= 0, low <= high
        {
            return low...high
        }
        throw text.error("'\(value)' is not a size in bytes such as 100, 100..200, >100 or <100", at: at)
    }
}
