/// One condition in the brackets of a selector.
package enum Condition: Hashable, Sendable {
    case direction(Direction)
    /// The protocol's type of a message, without regard to case.
    case type(String)
    /// Target, event, operation or channel.
    case label(String)
    /// The value at a JSON Pointer of the message's content; numbers compare by value.
    case pointer(String, JSONValue)
    case method(String)
    case path(String)

    package func holds(for message: Message) -> Bool {
        switch self {
        case .direction(let direction): message.direction == direction
        case .type(let type): equalIgnoringCase(message.type, type)
        case .label(let label): message.label == label
        case .pointer(let pointer, let value):
            message.content.value(at: pointer).map { $0.canonicalText == value.canonicalText } ?? false
        case .method, .path: false
        }
    }

    package func holds(for request: RequestHead) -> Bool {
        switch self {
        case .method(let method): equalIgnoringCase(request.method, method)
        case .path(let path): request.path == path
        case .direction, .type, .label, .pointer: false
        }
    }
}
