internal import WiretapeCore

/// What the units of a streamed body are.
enum EventsForm: Hashable, Sendable {
    /// Server-sent events.
    case events
    /// JSON texts, a line each.
    case lines

    /// By the answer's media type. Nil: it is no stream of events.
    init?(_ headers: [HeaderField]) {
        guard let type = headers.first("Content-Type").map({ MediaType($0) }) else { return nil }
        if type.name == "text/event-stream" {
            self = .events
        } else if type.isJSONLines {
            self = .lines
        } else {
            return nil
        }
    }

    var units: UnitReader.Kind {
        switch self {
        case .events: .events
        case .lines: .lines
        }
    }
}
