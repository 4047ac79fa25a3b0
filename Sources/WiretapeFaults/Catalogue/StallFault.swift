internal import WiretapeBytes

/// `stall(both, 30s)`: half-open.
enum StallFault {
    package static let entry = FaultEntry(
        word: "stall",
        summary:
            "half-open: our reads (in), our writes (out) or both stop, without a FIN; for a while or until the peer ends it, which is noticed",
        examples: [
            "stall(both, 30s) after upgrade in attempt=2", "stall(in) after handshake", "stall since connect=5s",
        ]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        var stall = Stall()
        var spelled: [String] = []
        let first = arguments.arguments.first
        // stall(30s): both.
        if first?.key == "side" || first.map({ $0.key == nil && DurationText.parse($0.value) == nil }) ?? false,
            let side = try reader.choice("side", Side.self)
        {
            stall.reads = side != .out
            stall.writes = side != .in
            spelled.append(side.rawValue)
        }
        stall.duration = try reader.duration("for")
        try reader.finish("in, out or both, and a duration")
        if let duration = stall.duration {
            if spelled.isEmpty { spelled.append("both") }
            spelled.append(DurationText.describe(duration))
        }
        if spelled == ["both"] { spelled = [] }
        return (.stall(stall), spelled.joined(separator: ", "))
    }

    private enum Side: String, CaseIterable { case `in`, out, both }
}
