package import WiretapeBytes
package import WiretapeMessages
package import WiretapeWire

/// One condition in the brackets of a selector.
package enum Condition: Hashable, Sendable {
    case direction(Direction)
    case `protocol`(String)
    case transport([Transport])
    /// The protocol's type of a message, without regard to case.
    case type(String)
    /// Target, event, operation or channel, by the word that was written: the message's label, or its content's member of
    /// that name.
    case named(LabelWord, String)
    /// The id of the call that it belongs to.
    case invocation(String)
    /// The value at a JSON Pointer of the message's content; numbers compare by value.
    case pointer(String, JSONValue)
    /// Found somewhere in the payload's first 64 KiB.
    case regex(Pattern)
    /// Bytes of the payload.
    case size(ClosedRange<Int>)
    case method(String)
    /// With a `*` at its end: everything that begins so.
    case path(String)
    /// A header field and its value; nil: whatever it says.
    case header(String, String?)
    /// The same credential as in the last attempt.
    case staleToken
    /// Of the connection.
    case listener(String)
    /// Who ends it, and with which code of a close frame.
    case endedBy(Direction)
    case code(UInt16)

    package enum LabelWord: String, Hashable, Sendable, CaseIterable { case target, event, operation, channel }

    /// Where it can be asked.
    enum Subject { case any, message, request, accept, close }

    var subject: Subject {
        switch self {
        case .protocol, .transport: .any
        case .direction, .type, .named, .invocation, .pointer, .regex, .size: .message
        case .method, .path, .header, .staleToken: .request
        case .listener: .accept
        case .endedBy, .code: .close
        }
    }

    package func holds(for message: Message, _ context: SelectorContext) -> Bool {
        switch self {
        case .direction(let direction): message.direction == direction
        case .type(let type): equalIgnoringCase(message.type, type)
        case .named(let word, let name):
            message.label == name || message.content[word.rawValue]?.string == name
                || (word == .channel && message.channel == name)
        case .invocation(let id): message.chain?.id == id
        case .pointer(let pointer, let value):
            message.content.value(at: pointer).map { $0.canonicalText == value.canonicalText } ?? false
        case .regex(let pattern): pattern.isFound(in: message.bytes)
        case .size(let range): range.contains(message.bytes.count)
        case .protocol, .transport, .method, .path, .header, .staleToken, .listener, .endedBy, .code:
            holds(in: context)
        }
    }

    package func holds(for request: RequestHead, _ context: SelectorContext) -> Bool {
        switch self {
        case .method(let method): equalIgnoringCase(request.method, method)
        case .path(let path):
            path.hasSuffix("*") ? request.path.hasPrefix(path.dropLast()) : request.path == path
        case .header(let name, let value):
            request.headers.contains {
                equalIgnoringCase($0.name, name) && (value == nil || $0.value == value)
            }
        case .direction, .protocol, .transport, .type, .named, .invocation, .pointer, .regex, .size, .staleToken,
            .listener, .endedBy, .code:
            holds(in: context)
        }
    }

    /// What can be asked at every point.
    package func holds(in context: SelectorContext) -> Bool {
        switch self {
        case .protocol(let id): context.protocolID == id
        case .transport(let transports): context.transport.map(transports.contains) ?? false
        case .staleToken: context.hasStaleToken
        case .listener(let name): context.listener == name
        case .endedBy(let side): context.endedBy == side
        case .code(let code): context.code == code
        case .direction, .type, .named, .invocation, .pointer, .regex, .size, .method, .path, .header: false
        }
    }
}
