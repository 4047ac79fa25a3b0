internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension SignalRCodec {
    /// The record without a type. It opens the hub connection, so what was known of an earlier one is forgotten.
    ///
    /// Its version is compared only when it is newer than servers know: they refuse that. Up to there it says what the
    /// negotiation granted, not what the application wants. A server that
    /// accepts answers with an empty object; some members more are read here and not written again, as not all clients
    /// accept them.
    mutating func handshake(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        guard frame.direction == .toServer else {
            guard let error = try frame.text("error") else {
                return frame.message(.handshake, "Handshake", chain: Self.handshakeChain, summary: "Handshake accepted")
            }
            return frame.message(
                .handshake, "Handshake", chain: Self.handshakeChain, meaning: [.init("error", .string(error))],
                summary: "Handshake error \(JSONValue.string(error).text)")
        }
        let name = try frame.requiredText("protocol")
        named = name == "messagepack" ? .messagePack : .json
        version = frame.field("version")?.canonical.int ?? 0
        chains = SignalRChains()
        counters = SignalRCounters()
        var meaning: [JSONValue.Member] = [.init("protocol", .string(name))]
        if version > Self.newestVersion { meaning.append(.init("version", .number(version))) }
        return frame.message(
            .handshake, "Handshake", chain: Self.handshakeChain, meaning: meaning,
            summary: "Handshake \(name) \(frame.field("version")?.text ?? "")")
    }

    /// Of both hub protocols, since ASP.NET Core 8.
    private static let newestVersion = 2
    private static let handshakeChain = Chain("handshake", origin: .toServer)

    /// Whether a client's first payload begins with a handshake request.
    static func isHandshake(_ payload: [UInt8]) -> Bool {
        firstRecord(of: payload).map { $0["type"] == nil && $0["protocol"]?.string != nil } ?? false
    }

    /// Whether a client's first payload begins with the Sequence of a stateful reconnect, in either hub protocol.
    static func isSequence(_ payload: [UInt8]) -> Bool {
        let record = firstRecord(of: payload) ?? firstFrame(of: payload)
        return record.map { $0["type"]?.int == 9 && $0["sequenceId"]?.int != nil } ?? false
    }

    /// The first frame of MessagePack when it is as short as a Sequence.
    private static func firstFrame(of payload: [UInt8]) -> JSONValue? {
        guard let body = try? SignalRPack.body(payload.span, at: 0), body.count <= 64 else { return nil }
        return try? SignalRPack.object(of: payload.span.extracting(body))
    }

    /// The first record when it is a JSON object of at most 4 KiB.
    private static func firstRecord(of payload: [UInt8]) -> JSONValue? {
        guard payload.first == UInt8(ascii: "{"), let end = payload.prefix(4_096).firstIndex(of: separator) else {
            return nil
        }
        return try? JSONValue(parsing: payload.span.extracting(0..<end))
    }
}
