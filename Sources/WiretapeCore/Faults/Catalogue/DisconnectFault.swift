/// `disconnect`: FIN without a close frame.
enum DisconnectFault {
    static let entry = FaultEntry(word: "disconnect") { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.disconnect, "")
    }
}
