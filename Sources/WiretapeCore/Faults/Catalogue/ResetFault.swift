/// `reset`: RST.
enum ResetFault {
    static let entry = FaultEntry(word: "reset") { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.reset, "")
    }
}
