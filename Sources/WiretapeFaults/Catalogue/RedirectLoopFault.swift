/// `redirect-loop`: 307 to where the client is.
enum RedirectLoopFault {
    package static let entry = FaultEntry(
        word: "redirect-loop", summary: "307 to the same place, for as long as the client follows",
        examples: ["redirect-loop on negotiate[1]"]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.redirectLoop, "")
    }
}
