internal import WiretapeProtocol
internal import WiretapeWire

/// Adds up the pieces of WebSocket messages that came in several events: a canonical tape has a message in one line, and
/// none that is longer than what is put together may be lost without a word.
struct CanonPieces {
    private var sizes: [Key: Int] = [:]
    private let limit: Int

    private struct Key: Hashable {
        var connection: UInt32
        var direction: Direction
    }

    /// - Parameter limit: most bytes of a message, if that is less than what is put together.
    init(limit: Int) { self.limit = min(limit, SessionReader.messageLimit) }

    /// - Returns: the limit in bytes, when the message that the event belongs to is beyond it.
    mutating func add(_ event: TapeEvent) -> Int? {
        switch event.kind {
        case .part(let direction, _, let n, let bytes, _):
            let key = Key(connection: event.connection, direction: direction)
            let before = n == 0 ? 0 : sizes[key] ?? 0
            sizes[key] = before + bytes.count
            return before + bytes.count > limit ? limit : nil
        case .take:
            sizes = [:]
        case .open, .gone:
            for direction in Direction.allCases {
                sizes[Key(connection: event.connection, direction: direction)] = nil
            }
        case .request, .response, .chunk, .end, .message, .ping, .pong, .close, .frame, .fault, .mark, .gap, .missing,
            .stop,
            .unknown:
            break
        }
        return nil
    }
}
