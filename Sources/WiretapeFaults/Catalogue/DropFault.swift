/// `drop`: never delivered.
enum DropFault {
    package static let entry = FaultEntry(
        word: "drop", summary: "the message is never delivered, and nothing else is lost",
        examples: ["drop on client-typing[every 2]", "drop on close[by=server]"]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.message(.drop), "")
    }
}
