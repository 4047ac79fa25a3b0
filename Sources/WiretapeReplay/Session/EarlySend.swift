internal import WiretapeWire

/// A payload that came over HTTP before the connection that it is meant for was opened.
struct EarlySend: Sendable {
    var token: String
    var body: [UInt8]
    var opcode: Opcode

    /// At most so many bytes are kept of one session.
    static let limit = 1 << 20
}
