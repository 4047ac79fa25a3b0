internal import WiretapeWire

/// `respond(503, Retry-After=1, "later")`: this answer instead of the right one.
enum RespondFault {
    package static let entry = FaultEntry(
        word: "respond", summary: "this status, these headers and this body instead of the answer",
        examples: [
            "respond(503, Retry-After=1, \"later\") on connect[retry=1..2]", "respond(401) on request[token=stale]",
        ]
    ) { arguments, text throws(PlanError) in
        guard let first = arguments.arguments.first, first.key == nil || first.key == "status" else {
            throw text.error("respond needs a status, such as respond(503)", at: arguments.at)
        }
        guard let status = Int(first.value), (200...599).contains(status) else {
            throw text.error("'\(first.value)' is not a status from 200 to 599", at: first.at)
        }
        var answer = HTTPAnswer(status: status)
        var spelled = ["\(status)"]
        var body: String?
        for argument in arguments.arguments.dropFirst() {
            switch argument.key {
            case nil, "body"?:
                guard body == nil else { throw text.error("a second body", at: argument.at) }
                body = argument.value
            case let name?:
                guard isToken(name), isFieldValue(argument.value) else {
                    throw text.error("'\(name)=\(argument.value)' cannot be a header field", at: argument.at)
                }
                answer.headers.append(HeaderField(name, argument.value))
                spelled.append("\(name)=\(FaultArguments.spelled(argument.value))")
            }
        }
        if let body {
            answer.body = Array(body.utf8)
            spelled.append(JSONValue.string(body).text)
            if answer.headers.first("Content-Type") == nil {
                answer.headers.append(HeaderField("Content-Type", "text/plain; charset=utf-8"))
            }
        }
        return (.respond(answer), spelled.joined(separator: ", "))
    }

    /// RFC 9110 §5.6.2.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static func isFieldValue(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { ($0.value >= 0x20 || $0 == "\t") && $0.value != 0x7f && $0.value < 0x100 }
    }
}
