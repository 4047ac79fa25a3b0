internal import WiretapeBytes
package import WiretapeFaults
internal import WiretapePlayback
package import WiretapeWire

/// Writes the frames that go to one peer of a WebSocket whose messages rules may touch. As long as the peer gets every
/// deflated message as it came, the sender's compression goes through; from the first one that it does not get, the leg has
/// a compressor of its own. That one begins with an empty window, which the peer's inflater cannot tell: its references
/// reach back to its own output only.
package struct FrameEncoder: ~Copyable {
    private let direction: Direction
    private let deflate: DeflateParameters?
    private var deflater: MessageDeflater?
    /// The sender's compression does not go through any more.
    private(set) package var isRemaking = false
    /// Draws masking keys.
    private var random: SplitMix64

    /// - Parameters:
    ///   - direction: `.toServer` writes masked frames.
    ///   - deflate: what the peers agreed on, when they did.
    ///   - seed: of the masking keys.
    package init(_ direction: Direction, deflate: DeflateParameters?, seed: UInt64) {
        self.direction = direction
        self.deflate = deflate
        random = SplitMix64(seed: seed)
    }

    /// A message that nothing has happened to, in its place.
    package mutating func pass(_ message: InterceptedMessage) -> [UInt8] {
        guard message.isDeflated, isRemaking else { return message.raw }
        return frame(message.opcode, message.payload, deflated: true)
    }

    /// The peer does not get `message` as it came and in its place.
    package mutating func lose(_ message: InterceptedMessage) {
        guard message.isDeflated, let deflate, !deflate.resetsContext(direction) else { return }
        isRemaking = true
    }

    /// A frame of ours. Compressed where the peer's own would be and the leg has its own compressor: else a message beside
    /// the sender's would get lost for its window.
    /// - Parameter size: the maximum byte count of a frame. If it is nil, the message is one frame.
    package mutating func frame(
        _ opcode: Opcode, _ payload: [UInt8], deflated: Bool = false, size: Int? = nil
    ) -> [UInt8] {
        var out: [UInt8] = []
        let packed = deflated ? pack(payload) : nil
        let bytes = packed ?? payload
        FrameWriter.append(
            opcode: opcode == .text ? 1 : 2, rsv1: packed != nil, payload: bytes.span,
            frames: size.map { .atMost($0) } ?? .one, mask: { key() }, into: &out)
        return out
    }

    /// A frame with a damaged header.
    package mutating func frame(_ opcode: Opcode, _ payload: [UInt8], damaged by: Corruption) -> [UInt8] {
        by.frame(opcode, payload, mask: key())
    }

    /// A piece of a message over the limit.
    package mutating func piece(_ piece: InterceptedPiece) -> [UInt8] {
        guard isRemaking, let plain = piece.plain else { return piece.raw }
        var out: [UInt8] = []
        let code: UInt8 = !piece.isFirst ? 0 : piece.opcode == .text ? 1 : 2
        FrameWriter.append(opcode: code, fin: piece.isLast, payload: plain.span, mask: key(), into: &out)
        return out
    }

    /// A close frame with any code.
    package mutating func close(_ code: UInt16?, _ reason: String) -> [UInt8] {
        var out: [UInt8] = []
        FrameWriter.appendClose(code: code, reason: reason, mask: key(), into: &out)
        return out
    }

    private mutating func key() -> UInt32? {
        direction == .toServer ? UInt32(truncatingIfNeeded: random.next()) | 1 : nil
    }

    private mutating func pack(_ payload: [UInt8]) -> [UInt8]? {
        guard let deflate, isRemaking else { return nil }
        if deflater == nil { deflater = MessageDeflater(direction, deflate) }
        return deflater?.pack(payload.span)
    }
}
