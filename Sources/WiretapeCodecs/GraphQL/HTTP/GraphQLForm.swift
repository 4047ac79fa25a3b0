internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The shapes that a server's message has on its carriers.
enum GraphQLForm: Hashable, Sendable {
    /// With `type`: WebSockets and events.
    case named
    /// `{"payload":…}`: a part of a multipart subscription (`subscriptionSpec=1.0`).
    case part
    /// The result alone: a single answer, a line, or a part of incremental delivery (`deferSpec=20220824`, `incrementalSpec=v0.2`).
    case single

    /// - Parameter part: what the parts of a multipart answer are.
    init(_ transport: Transport, part: Self) {
        self =
            switch transport {
            case .multipart: part
            case .http, .stream: .single
            case .ws, .sse, .lp: .named
            }
    }

    /// The form of the parts in an answer with that head. Only subscriptions wrap their results.
    init(ofPartsIn response: ResponseHead?) {
        let type = response?.headers.first("Content-Type").map { MediaType($0) }
        self = type?.name == "multipart/mixed" && type?["subscriptionspec"] == nil ? .single : .part
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
