/// `close(1011, "bye")`: a close frame, then the end. Without arguments the frame is empty.
enum CloseFault {
    static let entry = FaultEntry(word: "close") { arguments, text throws(PlanError) in
        var code: UInt16?
        var reason = ""
        for (i, argument) in arguments.arguments.enumerated() {
            switch (argument.key, i) {
            case ("code", _), (nil, 0):
                guard let value = UInt16(argument.value), isSendable(value) else {
                    throw text.error(
                        "'\(argument.value)' is not a code that a close frame can carry: 1000 to 4999, but not 1004 to 1006 or 1015",
                        at: argument.at)
                }
                code = value
            case ("reason", _), (nil, 1):
                guard argument.value.utf8.count <= 123 else {
                    throw text.error("the reason is longer than the 123 bytes of a close frame", at: argument.at)
                }
                reason = argument.value
            default:
                let key = argument.key ?? argument.value
                throw text.error("close takes a code and a reason, not '\(key)'", at: argument.at)
            }
        }
        guard code != nil || reason.isEmpty else { throw text.error("a reason needs a code", at: arguments.at) }
        let shown = code.map { "\($0)" } ?? ""
        return (
            .close(code: code, reason: reason), reason.isEmpty ? shown : "\(shown), \(JSONValue.string(reason).text)"
        )
    }

    /// RFC 6455 §7.4.
    private static func isSendable(_ code: UInt16) -> Bool {
        (1000...4999).contains(code) && !(1004...1006).contains(code) && code != 1015
    }
}
