internal import WiretapeProtocol
package import WiretapeTape

/// What a command holds of a tape whose messages it keeps, estimated from their sizes, and a refusal when that is too much.
package struct InterceptedTape {
    private let memory: Int
    private var held = 0
    /// An event without its payload.
    private static let event = 256
    /// A message is held with its bytes, its content and its meaning, and values take more than their text.
    private static let copies = 4

    package init(memory: Int) { self.memory = memory }

    package mutating func add(_ event: NumberedEvent, of name: String) throws(TapeError) {
        held += Self.event + Self.copies * event.event.kind.payloadCount
        guard held > memory else { return }
        throw TapeError(
            .tooLarge, file: name, event: event.number,
            "its messages take more than --memory allows; a larger one reads on")
    }
}
