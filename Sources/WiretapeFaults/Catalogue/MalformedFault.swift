/// `malformed`: an answer that cannot be read.
enum MalformedFault {
    package static let entry = FaultEntry(
        word: "malformed",
        summary:
            "instead of the answer: a head that is not HTTP, or a body of JSON that is cut; by itself the head of an upgrade and the body of everything else",
        examples: ["malformed on negotiate", "malformed(head) on upgrade"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let part = try reader.choice("part", MalformedPart.self)
        try reader.finish("head or body")
        return (.malformed(part), part?.rawValue ?? "")
    }
}
