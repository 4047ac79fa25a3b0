internal import WiretapeBytes
package import WiretapeFaults
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// A payload on its way out, and what rules have made of it.
package struct OutboundPayload {
    /// With live ids and the protocol's framing, without that of the transport.
    package private(set) var bytes: [UInt8]
    package private(set) var opcode: Opcode
    /// What is still to be done to the header of the frame, the chunk or the body that carries it.
    package private(set) var damage: Corruption?
    /// The maximum byte count of a WebSocket frame. Nil if no `fragment` applies.
    package private(set) var frameSize: Int?
    /// Whether a rule has changed it.
    package private(set) var isChanged = false

    package init(_ bytes: [UInt8], _ opcode: Opcode) {
        self.bytes = bytes
        self.opcode = opcode
    }

    /// - Parameters:
    ///   - message: what the payload says; nil for one that no codec has read.
    ///   - transport: what carries it.
    package mutating func change(
        by edits: [MessageFate.Edit], _ codec: any FrameCodec.Type, like message: Message?, on transport: Transport
    ) {
        for edit in edits {
            switch edit {
            case .fragment(let size): frameSize = size
            case .replace(let change):
                isChanged = true
                bytes = change.apply(to: bytes, &opcode, codec, like: message)
            case .corrupt(let corruption, let seed):
                isChanged = true
                var random = SplitMix64(seed: seed)
                corruption.apply(to: &bytes, in: codec.content(of: bytes, on: transport), &random)
                if corruption.isOfHeader { damage = corruption }
            }
        }
    }
}
