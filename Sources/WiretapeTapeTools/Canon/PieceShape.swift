internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Where a streamed body may be cut so that every piece says one thing.
enum PieceShape {
    case events
    case parts(boundary: [UInt8])
    case lines
    /// What arrived together.
    case pieces
    case bytes

    /// - Parameter isInPieces: each piece of the body means something by itself.
    init(_ response: ResponseHead?, isInPieces: Bool) {
        let type = response?.headers.first("Content-Type").map { MediaType($0) }
        if type?.name == "text/event-stream" {
            self = .events
        } else if let type, type.name.hasPrefix("multipart/") {
            self = .parts(boundary: Array((type["boundary"] ?? "-").utf8))
        } else if type?.isJSONLines == true {
            self = .lines
        } else {
            self = isInPieces ? .pieces : .bytes
        }
    }

    /// Behind the first event, or behind the first delimiter of parts; nil when there is none in `body`.
    func end(_ body: ArraySlice<UInt8>) -> Int? {
        switch self {
        case .events: PieceShape.eventEnd(body)
        case .parts(let boundary): PieceShape.delimiterEnd(body, boundary)
        case .lines: body.firstIndex(of: 0x0a).map { $0 + 1 }
        case .pieces: body.endIndex
        case .bytes: nil
        }
    }

    /// Whether the piece carries nothing but the protocol's keepalive, or a comment.
    func isSignOfLife(_ piece: ArraySlice<UInt8>, _ codec: any FrameCodec) -> Bool {
        var payloads: [[UInt8]] = []
        switch self {
        case .bytes, .lines, .pieces: return false
        case .events:
            var reader = SSEReader()
            let bytes = Array(piece)
            var at = 0
            reading: while true {
                switch reader.feed(bytes.span, from: at) {
                case .more: break reading
                case .comment(_, let next): at = next
                case .event, .retry, .tooLong: return false
                }
            }
        case .parts(let boundary):
            var reader = MultipartReader(boundary: boundary)
            let bytes = Array("--".utf8) + boundary + piece
            var at = 0
            while case .part(let part, let next) = reader.feed(bytes.span, from: at) {
                payloads.append(part.body)
                at = next
            }
            guard !payloads.isEmpty else { return false }
        }
        return payloads.allSatisfy { payload in
            var probe = codec
            var messages: [Message] = []
            probe.decode(payload.span, .text, .toClient, into: &messages)
            return messages.allSatisfy { $0.role == .keepalive }
        }
    }

    /// Behind the empty line that ends an event.
    private static func eventEnd(_ body: ArraySlice<UInt8>) -> Int? {
        var isEmpty = false
        var at = body.startIndex
        while at < body.endIndex {
            if body[at] == 0x0a || body[at] == 0x0d {
                if body[at] == 0x0d, at + 1 < body.endIndex, body[at + 1] == 0x0a { at += 1 }
                if isEmpty { return at + 1 }
                isEmpty = true
            } else {
                isEmpty = false
            }
            at += 1
        }
        return nil
    }

    private static func delimiterEnd(_ body: ArraySlice<UInt8>, _ boundary: [UInt8]) -> Int? {
        let delimiter = Array("--".utf8) + boundary
        var at = body.startIndex
        while at < body.endIndex {
            if body[at...].starts(with: delimiter) { return at + delimiter.count }
            guard let line = body[at...].firstIndex(of: 0x0a) else { return nil }
            at = line + 1
        }
        return nil
    }
}
