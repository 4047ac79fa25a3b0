internal import WiretapeProtocol
internal import WiretapeWire

/// What the units of a streamed body are.
enum EventsForm: Hashable, Sendable {
    /// Server-sent events.
    case events
    /// JSON texts, a line each.
    case lines
    /// Whatever arrived together.
    case pieces

    /// By the answer's head. Nil: it is no stream, or there is no answer yet.
    init?(_ opening: StreamOpening) {
        guard let response = opening.response else { return nil }
        let type = response.headers.first("Content-Type").map { MediaType($0) }
        if type?.name == "text/event-stream" {
            self = .events
        } else if type?.isJSONLines == true {
            self = .lines
        } else if response.isInPieces(for: opening.request.method) {
            self = .pieces
        } else {
            return nil
        }
    }

    var units: UnitReader.Kind {
        switch self {
        case .events: .events
        case .lines: .lines
        case .pieces: .pieces
        }
    }
}
