internal import WiretapeBytes

/// `reorder(2, 500ms)`: lets messages pass.
enum ReorderFault {
    private static let patience: UInt64 = 1_000_000_000

    package static let entry = FaultEntry(
        word: "reorder",
        summary:
            "the message lets so many others of its direction pass, 1 unless said, but waits no longer than 1 s unless said",
        examples: ["reorder on StreamItem[2]", "reorder(3, 200ms) on message[every 5, direction=toClient]"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let window = try reader.count("window", in: 1...1_000) ?? 1
        let wait = try reader.duration("within") ?? patience
        try reader.finish("a number of messages and a duration")
        let shown = wait == patience ? "" : ", \(DurationText.describe(wait))"
        return (
            .message(.reorder(window: window, patience: wait)), window == 1 && shown.isEmpty ? "" : "\(window)\(shown)"
        )
    }
}
