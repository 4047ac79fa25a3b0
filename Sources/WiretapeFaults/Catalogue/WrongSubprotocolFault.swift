/// `wrong-subprotocol("x")`: an upgrade with a subprotocol that the client did not offer.
enum WrongSubprotocolFault {
    package static let entry = FaultEntry(
        word: "wrong-subprotocol",
        summary: "101 with a subprotocol that the client did not offer, or with none: wrong-subprotocol(none)",
        examples: ["wrong-subprotocol on upgrade[1]", "wrong-subprotocol(none) on upgrade"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let name = reader.next("name")
        try reader.finish("a name or none")
        guard let name else { return (.wrongSubprotocol("wiretape.unasked"), "") }
        guard RespondFault.isToken(name.value) else {
            throw text.error("'\(name.value)' cannot be the name of a subprotocol", at: name.at)
        }
        return (.wrongSubprotocol(name.value == "none" ? nil : name.value), name.value)
    }
}
