package import WiretapeProtocol

/// The list of protocols. Command line, filters, documentation and the contract tests are made from it.
package enum Codecs {
    /// In the order in which they are asked; `events` is behind those whose streams have names, and `raw` is last because it takes every WebSocket.
    package static let all: [CodecEntry] = [
        CodecEntry(SignalRCodec.self),
        CodecEntry(GraphQLCodec.self),
        CodecEntry(EventflitCodec.self),
        CodecEntry(AtmosphereCodec.self),
        CodecEntry(EventsCodec.self),
        CodecEntry(RawCodec.self),
    ]

    package static func named(_ id: String) -> CodecEntry? { all.first { $0.id == id } }
}
