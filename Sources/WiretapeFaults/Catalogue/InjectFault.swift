/// `inject("{…}")`: a message that nobody sent.
enum InjectFault {
    package static let entry = FaultEntry(
        word: "inject",
        summary:
            "an extra message in the direction of the one that is named, to the client at a moment: a text, framed where it is JSON, or hex=…",
        examples: ["inject(\"{\\\"type\\\":6}\") after ReceiveMessage[1]", "inject(hex=ff) before next[2]"]
    ) { arguments, text throws(PlanError) in
        let (edit, spelled) = try MessageEdit.read(arguments, text, mayPoint: false)
        return (.message(.inject(edit)), spelled)
    }
}
