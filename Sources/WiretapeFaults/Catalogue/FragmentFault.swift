internal import WiretapeBytes

/// `fragment(10)`: a WebSocket message in frames of at most 10 bytes.
enum FragmentFault {
    package static let entry = FaultEntry(
        word: "fragment",
        summary: "sends the WebSocket message in frames of at most N bytes; its content does not change",
        examples: ["fragment(1) on ReceiveMessage[2]", "fragment(1000) on message[size=>4000]"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let size = try reader.count("n", in: 1...1_048_576) else {
            throw reader.error("fragment needs a number of bytes: fragment(10)")
        }
        try reader.finish("a number of bytes")
        return (.message(.fragment(size)), "\(size)")
    }
}
