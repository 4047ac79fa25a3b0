/// `expire`: the server forgets.
enum ExpireFault {
    package static let entry = FaultEntry(
        word: "expire",
        summary: "the server forgets the session: what names it next is answered 404, and nothing can be resumed",
        examples: ["expire + reset after ReceiveMessage[2]", "expire after poll[3]"]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.expire, "")
    }
}
