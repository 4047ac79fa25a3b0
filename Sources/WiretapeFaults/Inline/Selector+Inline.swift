internal import WiretapeBytes
internal import WiretapeWire

extension Selector {
    /// `ReceiveMessage[3, /item/id=7]`: the one spelling of the selector.
    package var inline: String { inline(with: RuleFilters()) }

    /// With the filters that stand in its brackets: `connect[retry=1]`.
    package func inline(with filters: RuleFilters) -> String {
        var inside = occurrence.map { [$0.description] } ?? []
        inside += conditions.map { "\($0.key)=\($0.value)" }
        if let attempt = filters.attempt { inside.append("attempt=\(attempt)") }
        if let retry = filters.retry { inside.append("retry=\(retry)") }
        if filters.per != .session { inside.append("per=\(filters.per.rawValue)") }
        return subjectText + (inside.isEmpty ? "" : "[\(inside.joined(separator: ", "))]")
    }

    var subjectText: String {
        switch subject {
        case .point(let point): point.rawValue
        case .label(let label):
            label.allSatisfy { $0.isLetter || $0.isNumber || "_-./:$#".contains($0) } && !label.isEmpty
                && FaultPoint(rawValue: label) == nil ? label : JSONValue.string(label).text
        }
    }

    var isAboutRequests: Bool {
        if case .point(let point) = subject { point.isRequest } else { false }
    }

    var isAboutMessages: Bool {
        if case .point(let point) = subject { point.isMessage } else { true }
    }

    func isPoint(_ point: FaultPoint) -> Bool { subject == .point(point) }
}

extension Condition {
    /// As it is written before the `=`.
    package var key: String {
        switch self {
        case .direction: "direction"
        case .protocol: "protocol"
        case .transport: "transport"
        case .type: "type"
        case .named(let word, _): word.rawValue
        case .invocation: "invocation"
        case .pointer(let pointer, _): pointer
        case .regex: "regex"
        case .size: "size"
        case .method: "method"
        case .path: "path"
        case .header(let name, _): "header.\(name)"
        case .staleToken: "token"
        case .listener: "listener"
        case .endedBy: "by"
        case .code: "code"
        }
    }

    /// As it is written behind the `=`.
    package var value: String {
        switch self {
        case .direction(let direction): direction == .toClient ? "toClient" : "toServer"
        case .transport(let transports): transports.map(\.rawValue).joined(separator: "|")
        case .pointer(_, let value): value.text
        case .regex(let pattern): JSONValue.string(pattern.text).text
        case .size(let range):
            range.lowerBound == range.upperBound
                ? "\(range.lowerBound)"
                : range.upperBound == .max && range.lowerBound > 0
                    ? ">\(range.lowerBound - 1)" : "\(range.lowerBound)..\(range.upperBound)"
        case .staleToken: "stale"
        case .endedBy(let side): side == .toClient ? "server" : "client"
        case .code(let code): "\(code)"
        case .header(_, nil): "*"
        case .protocol(let text), .type(let text), .named(_, let text), .invocation(let text), .method(let text),
            .path(let text), .header(_, let text?), .listener(let text):
            text.allSatisfy { !",]\"".contains($0) && !$0.isWhitespace } && !text.isEmpty
                ? text : JSONValue.string(text).text
        }
    }
}
