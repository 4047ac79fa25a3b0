internal import WiretapeBytes
internal import WiretapeWire

/// What a client sends over a WebSocket while a rule keeps the connection silent. It is kept until the rule lets it through. Its close
/// frame is looked for, so that the time is known at which the client left.
struct SilentInput: ~Copyable {
    /// When so much is kept, the connection is not read any more: the client's own system holds the rest, as in a broken network.
    private static let limit = 64 << 10

    private var bytes: [UInt8] = []
    private var finder = CloseFrameFinder()
    private var hasLeft = false

    var count: Int { bytes.count }
    var isFull: Bool { bytes.count >= Self.limit }

    /// - Returns: the client's close frame, when these bytes complete its first one.
    mutating func take(_ more: Span<UInt8>) -> ClientEnd? {
        bytes.append(copying: more)
        guard !hasLeft, let close = finder.find(more) else { return nil }
        hasLeft = true
        return switch close {
        case .empty, .invalid: .closeFrame(code: nil, reason: "")
        case .told(let code, let reason): .closeFrame(code: code, reason: reason)
        }
    }

    /// What the client said meanwhile.
    consuming func all() -> [UInt8] { bytes }
}
