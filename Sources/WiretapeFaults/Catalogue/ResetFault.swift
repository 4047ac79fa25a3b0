/// `reset`: RST.
enum ResetFault {
    package static let entry = FaultEntry(
        word: "reset",
        summary: "RST, which the peer sees as 'connection reset'; never before what was sent has arrived",
        examples: [
            "reset after ReceiveMessage[3]", "reset after ReceiveMessage[3] + 200ms", "reset on upgrade",
            "reset since connect=5s",
        ]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.reset, "")
    }
}
