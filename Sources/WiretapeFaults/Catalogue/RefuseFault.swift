/// `refuse`: RST as soon as the client is connected.
enum RefuseFault {
    package static let entry = FaultEntry(
        word: "refuse", summary: "RST on accept, or instead of an answer",
        examples: ["refuse on accept[2..4]", "refuse on connect[retry=1]"]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.refuse, "")
    }
}
