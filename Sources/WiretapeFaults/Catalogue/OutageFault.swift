internal import WiretapeBytes

/// `outage(10s, cut=1001, answer=503)`: the server is away for a while.
enum OutageFault {
    package static let entry = FaultEntry(
        word: "outage",
        summary:
            "all connections that carry something are cut (reset unless said: cut=none, disconnect or a close code), and what asks is refused, or answered with answer=STATUS, for that long",
        examples: ["outage(3s) since run=5s", "outage(10s, cut=1001, answer=503) after ReceiveMessage[5] max=1"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let duration = try reader.duration("for") else {
            throw reader.error("outage needs a duration: outage(10s)")
        }
        var outage = Outage(duration: duration)
        var spelled = DurationText.describe(duration)
        if let cut = reader.next("cut") {
            guard let meant = Self.cut(cut.value) else {
                throw text.error(
                    "'\(cut.value)' is none of reset, disconnect, none and a close code", at: cut.at)
            }
            outage.cut = meant
            if meant != .reset { spelled += ", cut=\(cut.value)" }
        }
        if let answer = reader.next("answer"), answer.value != "refuse" {
            guard let status = Int(answer.value), (200...599).contains(status) else {
                throw text.error("'\(answer.value)' is not refuse or a status from 200 to 599", at: answer.at)
            }
            outage.answer = status
            spelled += ", answer=\(status)"
        }
        try reader.finish("a duration, cut= and answer=")
        return (.outage(outage), spelled)
    }

    private static func cut(_ word: String) -> Outage.Cut? {
        switch word {
        case "reset": .reset
        case "disconnect": .disconnect
        case "none": Outage.Cut.none
        default: UInt16(word).map { .close($0) }
        }
    }
}
