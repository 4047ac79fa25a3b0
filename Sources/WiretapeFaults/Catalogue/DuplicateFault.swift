/// `duplicate(2)`: so many further copies.
enum DuplicateFault {
    package static let entry = FaultEntry(
        word: "duplicate", summary: "so many further copies of the message, 1 unless said, at once",
        examples: ["duplicate on ReceiveMessage[2]", "duplicate(3) on next[every 4]"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let count = try reader.count("n", in: 1...1_000) ?? 1
        try reader.finish("a number of copies")
        return (.message(.duplicate(count)), count == 1 ? "" : "\(count)")
    }
}
