/// `disconnect`: FIN without a close frame.
enum DisconnectFault {
    package static let entry = FaultEntry(
        word: "disconnect", summary: "FIN without a close frame, or in the middle of a body",
        examples: ["disconnect on client-typing[every 2]"]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.disconnect, "")
    }
}
