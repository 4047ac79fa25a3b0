internal import WiretapeBytes

/// `slice(1, 5ms)`: small writes.
enum SliceFault {
    private static let every: UInt64 = 10_000_000

    package static let entry = FaultEntry(
        word: "slice", summary: "writes of so many bytes, so far apart (10ms unless said), on this connection",
        examples: ["slice(1, 5ms) on connect", "slice(100) after handshake"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let size = try reader.count("n", in: 1...1_048_576) else {
            throw reader.error("slice needs a number of bytes: slice(1, 5ms)")
        }
        let gap = try reader.duration("every")
        let duration = try reader.duration("for")
        try reader.finish("a number of bytes and a duration")
        guard gap != 0 else { throw reader.error("the pieces need a pause between them, such as 1ms") }
        var spelled = "\(size)"
        if gap ?? every != every || duration != nil { spelled += ", \(DurationText.describe(gap ?? every))" }
        if let duration { spelled += ", \(DurationText.describe(duration))" }
        return (.slice(size, every: gap ?? every, for: duration), spelled)
    }
}
