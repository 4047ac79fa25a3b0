internal import WiretapeCore

/// What the units of a streamed body are.
enum EventsForm: Hashable, Sendable {
    /// Server-sent events.
    case events
    /// JSON texts, a line each.
    case lines

    /// By the answer's media type. Nil: it is no stream of events.
    init?(_ headers: [HeaderField]) {
        guard let type = headers.first("Content-Type").map({ MediaType($0).name }) else { return nil }
        if type == "text/event-stream" {
            self = .events
        } else if EventsForm.lineTypes.contains(type) || type.hasSuffix("+json-seq") {
            self = .lines
        } else {
            return nil
        }
    }

    static let lineTypes: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl",
        "application/jsonlines",
        "application/x-jsonlines", "application/json-seq", "application/stream+json", "application/x-json-stream",
    ]

    var units: UnitReader.Kind {
        switch self {
        case .events: .events
        case .lines: .lines
        }
    }
}
