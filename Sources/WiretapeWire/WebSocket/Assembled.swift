/// What ``MessageAssembler/feed(_:from:)`` found. `next` is where the following call starts.
package enum Assembled: Hashable, Sendable {
    /// All bytes are taken; more are needed.
    case more
    /// A whole message, unmasked and inflated. `fragments`: bytes of payload of each frame when there were several.
    case message(Opcode, [UInt8], deflated: Bool, fragments: [Int], next: Int)
    case ping([UInt8], next: Int)
    case pong([UInt8], next: Int)
    /// The closing handshake began or was answered; nothing behind it is looked at.
    case close(code: UInt16?, reason: String, next: Int)
    /// The peer broke RFC 6455 or a limit: the code to close with (1002, 1007, 1009) and a short text. Nothing behind it is
    /// looked at.
    case violation(code: UInt16, reason: String)
}
