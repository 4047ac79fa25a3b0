/// How the pieces of a streamed answer make payloads.
package enum BodyFraming: Hashable, Sendable {
    /// Server-sent events: one payload an event (``FrameCodec/payload(of:)-(SSEEvent)``).
    case events
    /// `multipart/mixed`: one payload a part. The boundary is without its two hyphens.
    case parts(boundary: [UInt8])
    /// The protocol's own: the codec gets the bytes as they arrive and keeps what is not whole.
    case bytes
}
