internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// A payload as a canonical tape has it: JSON as `json` with its members in one order, anything else as it was.
struct CanonPayload {
    var bytes: [UInt8]
    var json: [UInt8]?

    /// - Parameters:
    ///   - bytes: with the protocol's framing.
    ///   - codec: nil for a body of no protocol.
    ///   - order: of the members; the codec's by default.
    ///   - change: what becomes of a text.
    init(
        _ bytes: [UInt8], _ codec: (any FrameCodec.Type)?, order: [String]? = nil, _ change: (String) -> String
    ) {
        self.bytes = bytes
        let frame = codec?.framed([]) ?? []
        guard bytes.count > frame.count, bytes.suffix(frame.count) == frame[...] else { return }
        guard let value = try? JSONValue(parsing: bytes.span.extracting(0..<bytes.count - frame.count)),
            value.members != nil || value.array != nil,
            // What cannot be written again is left as it is.
            !value.hasReplacementCharacter, let ordered = value.ordered(first: order ?? codec?.memberOrder ?? [])
        else { return }
        var text: [UInt8] = []
        ordered.mappingTexts(change).write(into: &text)
        json = text
    }
}
