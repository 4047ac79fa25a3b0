extension Selector {
    /// `ReceiveMessage[3, /item/id=7]`: the one spelling of the selector.
    package var inline: String { inline(with: RuleFilters()) }

    /// With the filters that stand in its brackets: `connect[retry=1]`.
    func inline(with filters: RuleFilters) -> String {
        var inside = occurrence.map { [$0.description] } ?? []
        inside += conditions.map { "\($0.key)=\($0.value)" }
        if let attempt = filters.attempt { inside.append("attempt=\(attempt)") }
        if let retry = filters.retry { inside.append("retry=\(retry)") }
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

    /// `instead` of requests, `after` messages.
    var defaultPlace: Place { isAboutRequests ? .instead : .after }
}

extension Condition {
    var isAboutRequests: Bool {
        switch self {
        case .method, .path: true
        case .direction, .type, .label, .pointer: false
        }
    }

    /// As it is written before the `=`.
    var key: String {
        switch self {
        case .direction: "direction"
        case .type: "type"
        case .label: "target"
        case .pointer(let pointer, _): pointer
        case .method: "method"
        case .path: "path"
        }
    }

    /// As it is written behind the `=`.
    var value: String {
        switch self {
        case .direction(let direction): direction == .toClient ? "toClient" : "toServer"
        case .pointer(_, let value): value.text
        case .type(let text), .label(let text), .method(let text), .path(let text):
            text.allSatisfy { !",]\"".contains($0) && !$0.isWhitespace } && !text.isEmpty
                ? text : JSONValue.string(text).text
        }
    }
}
