package import WiretapeWire

/// How the pieces of a streamed answer make payloads.
package enum BodyFraming: Hashable, Sendable {
    /// Server-sent events: one payload an event (``FrameCodec/payload(of:)-(SSEEvent)``).
    case events
    /// `multipart/mixed`: one payload a part. The boundary is without its two hyphens.
    case parts(boundary: [UInt8])
    /// The protocol's own: the codec gets the bytes as they arrive and keeps what is not whole.
    case bytes
    /// One payload a unit, as it came: with the names and comments of an event and the end of a line.
    case units(UnitReader.Kind)

    /// What the answer to an operation that is framed so goes over.
    package var carrier: Transport {
        switch self {
        case .events, .units(.events): .sse
        case .parts: .multipart
        case .bytes, .units(.lines), .units(.pieces): .stream
        }
    }
}
