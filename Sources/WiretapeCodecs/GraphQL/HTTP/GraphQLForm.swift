internal import WiretapeCore

/// The shapes that a server's message has on its carriers.
enum GraphQLForm: Hashable, Sendable {
    /// With `type`: WebSockets and events.
    case named
    /// `{"payload":…}`: a part of a multipart body.
    case part
    /// The result alone.
    case single

    init(_ transport: Transport) {
        self =
            switch transport {
            case .multipart: .part
            case .http: .single
            case .ws, .sse, .lp, .stream: .named
            }
    }

    init(of content: JSONValue) {
        self = content["type"] != nil ? .named : content["payload"] != nil ? .part : .single
    }

    /// The result of an operation, or its errors, as a WebSocket message has them in `payload`.
    func payload(of message: Message) -> JSONValue {
        switch self {
        case .named: message.content["payload"] ?? .null
        case .part: message.content[message.kind == "error" ? "errors" : "payload"] ?? .null
        case .single: message.content
        }
    }
}
