import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Requests and payloads of Atmosphere, as the reference has them.
enum Atmosphere {
    static let id = "98b2609f-7aea-4c8e-b9a6-8685f5652015"

    static func request(
        _ transport: String, id: String = "0", lengths: Bool = true, method: String = "GET", path: String = "/chat",
        _ more: String = "", _ headers: [HeaderField] = []
    ) -> RequestHead {
        let size = lengths ? "&X-Atmosphere-TrackMessageSize=true" : ""
        let target =
            "\(path)?X-Atmosphere-tracking-id=\(id)&X-Atmosphere-Framework=4.0.2-javascript"
            + "&X-Atmosphere-Transport=\(transport)\(size)&X-atmo-protocol=true\(more)"
        let upgrade =
            transport == "websocket" && method == "GET"
            ? [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")] : []
        return RequestHead(method: method, target: target, headers: upgrade + headers)
    }

    static func codec(_ transport: String, id: String = "0", lengths: Bool = true) -> AtmosphereCodec {
        AtmosphereCodec(StreamOpening(request: request(transport, id: id, lengths: lengths)))
    }

    /// A codec behind the handshake of a new session.
    static func greeted(_ transport: String, lengths: Bool = true, interval: Int = 0) -> AtmosphereCodec {
        var codec = codec(transport, lengths: lengths)
        let handshake = "\(id)|\(interval)|X|"
        _ = codec.read((lengths ? "\(handshake.utf16.count)|" : "") + handshake)
        return codec
    }
}

extension AtmosphereCodec {
    mutating func read(_ text: String, _ direction: Direction = .toClient) -> [Message] {
        read(Array(text.utf8), direction)
    }

    mutating func read(_ bytes: [UInt8], _ direction: Direction = .toClient, _ opcode: Opcode = .text) -> [Message] {
        var out: [Message] = []
        decode(bytes.span, opcode, direction, into: &out)
        return out
    }
}

extension [Message] {
    /// What the application gets of them.
    var texts: [String] {
        filter { $0.role == .push || $0.role == .send }.map { $0.content["text"]?.string ?? $0.content.text }
    }
}
