/// The kind of a WebSocket data message.
package enum Opcode: String, Hashable, Sendable {
    case text, binary
}
