internal import WiretapeWire

/// `close(1011, "bye")`: a close frame, then the end. Without arguments the frame is empty.
enum CloseFault {
    package static let entry = FaultEntry(
        word: "close",
        summary:
            "a close frame with any code, also one that must not be sent, and a reason of at most 123 bytes; then the end",
        examples: ["close(4403, \"Forbidden\") after next[3]", "close(1006) after message[2]", "close after handshake"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        var code: UInt16?
        if let argument = reader.next("code") {
            guard let value = UInt16(argument.value) else {
                throw text.error("'\(argument.value)' is not a code from 0 to 65535", at: argument.at)
            }
            code = value
        }
        var reason = ""
        if let argument = reader.next("reason") {
            guard argument.value.utf8.count <= 123 else {
                throw text.error("the reason is longer than the 123 bytes of a close frame", at: argument.at)
            }
            reason = argument.value
        }
        try reader.finish("a code and a reason")
        guard code != nil || reason.isEmpty else { throw text.error("a reason needs a code", at: arguments.at) }
        let shown = code.map { "\($0)" } ?? ""
        return (
            .close(code: code, reason: reason), reason.isEmpty ? shown : "\(shown), \(JSONValue.string(reason).text)"
        )
    }
}
