/// `wrong-accept`: an upgrade whose key does not prove anything.
enum WrongAcceptFault {
    package static let entry = FaultEntry(
        word: "wrong-accept", summary: "101 with a Sec-WebSocket-Accept that is not the key's",
        examples: ["wrong-accept on upgrade[1]"]
    ) { arguments, text throws(PlanError) in
        try arguments.requireNone(text)
        return (.wrongAccept, "")
    }
}
