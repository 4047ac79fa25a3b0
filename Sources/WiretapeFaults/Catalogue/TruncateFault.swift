/// `truncate(2)`: so many bytes, then the end.
enum TruncateFault {
    package static let entry = FaultEntry(
        word: "truncate",
        summary:
            "so many bytes of the frame, the chunk or the answer, its header counted, then FIN, or RST with '+ reset'",
        examples: ["truncate(2) + reset on StreamItem[2, /item/id=7]", "truncate(20) on negotiate"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let count = try reader.count("n", in: 0...1_048_576) else {
            throw reader.error("truncate needs a number of bytes: truncate(2)")
        }
        try reader.finish("a number of bytes")
        return (.message(.truncate(count)), "\(count)")
    }
}
