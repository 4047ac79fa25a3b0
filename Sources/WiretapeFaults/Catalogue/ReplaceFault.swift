internal import WiretapeWire

/// `replace("{…}")`, `replace(/item/price=null)`.
enum ReplaceFault {
    package static let entry = FaultEntry(
        word: "replace",
        summary:
            "other content: a text, which gets the protocol's framing where it is JSON, hex=…, or values at JSON Pointers",
        examples: [
            "replace(\"not what you expect\") on ReceiveMessage[1]", "replace(/arguments/0=null) on ReceiveMessage[2]",
            "replace(hex=00ff) on next[1]",
        ]
    ) { arguments, text throws(PlanError) in
        let (edit, spelled) = try MessageEdit.read(arguments, text, mayPoint: true)
        return (.message(.replace(edit)), spelled)
    }
}

extension MessageEdit {
    /// `"text"`, `hex=00ff`, or `/pointer=json` as often as wanted.
    static func read(
        _ arguments: FaultArguments, _ text: RuleText, mayPoint: Bool
    ) throws(PlanError) -> (MessageEdit, String) {
        guard let first = arguments.arguments.first else {
            throw text.error("\(arguments.word) needs a text: \(arguments.word)(\"…\")", at: arguments.at)
        }
        if mayPoint, first.key?.hasPrefix("/") == true { return try members(arguments, text) }
        guard arguments.arguments.count == 1 else {
            throw text.error("\(arguments.word) takes one text", at: arguments.arguments[1].at)
        }
        switch first.key {
        case nil, "text"?: return (.text(first.value), JSONValue.string(first.value).text)
        case "hex"?:
            guard let bytes = bytes(hex: first.value) else {
                throw text.error("'\(first.value)' is not hex digits in pairs", at: first.at)
            }
            return (.bytes(bytes), "hex=\(hexText(bytes))")
        case let key?:
            let keys = mayPoint ? "a text, hex= or JSON Pointers" : "a text or hex="
            throw text.error("\(arguments.word) takes \(keys), not '\(key)'", at: first.at)
        }
    }

    private static func members(
        _ arguments: FaultArguments, _ text: RuleText
    ) throws(PlanError) -> (MessageEdit, String) {
        var members: [Member] = []
        var spelled: [String] = []
        for argument in arguments.arguments {
            guard let pointer = argument.key, pointer.hasPrefix("/") else {
                throw text.error("texts and JSON Pointers do not go together", at: argument.at)
            }
            let raw = argument.isQuoted ? JSONValue.string(argument.value).text : argument.value
            guard let value = try? JSONValue(parsing: raw) else {
                throw text.error(
                    "'\(argument.value)' is not JSON; texts stand in quotes: \(pointer)=\"\(argument.value)\"",
                    at: argument.at)
            }
            members.append(Member(pointer, value))
            spelled.append("\(pointer)=\(value.text)")
        }
        return (.members(members), spelled.joined(separator: ", "))
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0, !digits.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for i in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Character(Unicode.Scalar(digits[i])).hexDigitValue,
                let low = Character(Unicode.Scalar(digits[i + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high * 16 + low))
        }
        return bytes
    }
}
