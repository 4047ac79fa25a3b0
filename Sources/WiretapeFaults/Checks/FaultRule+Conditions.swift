internal import WiretapeWire

extension FaultRule {
    /// What is asked where nothing could answer it.
    var conditionProblem: String? {
        let subject = selector.subjectText
        for condition in selector.conditions {
            if let problem = problem(of: condition) { return problem }
            guard case .transport(let asked) = condition else { continue }
            if selector.isPoint(.negotiate) { return "'negotiate' comes before the client chooses a transport" }
            if let possible = transports, !asked.contains(where: possible.contains) {
                return "'\(subject)' is never over \(asked.map(\.rawValue).joined(separator: " or "))"
            }
            if needsFrames, !asked.contains(.ws) {
                return "'\(actions[0].text)' needs WebSocket frames; write transport=ws, or no transport"
            }
        }
        if selector.isPoint(.subscribe), selector.direction == .toClient {
            return "subscriptions go to the server"
        }
        return nil
    }

    private func problem(of condition: Condition) -> String? {
        let subject = selector.subjectText
        switch condition.subject {
        case .any:
            return isAboutAccept ? "'\(subject)' is before any request and has no \(condition.key)" : nil
        case .message:
            guard !selector.isAboutMessages else { return nil }
            let what = selector.isAboutRequests ? "about requests, which have" : "a moment that has"
            return "'\(subject)' is \(what) no \(condition.key)"
        case .request:
            guard !selector.isAboutRequests else { return nil }
            let what = selector.isAboutMessages ? "about messages, which have" : "a moment that has"
            return "'\(subject)' is \(what) no \(condition.key)"
        case .accept: return isAboutAccept ? nil : "only accept and tls have a listener"
        case .close: return selector.isPoint(.close) ? nil : "only close has '\(condition.key)'"
        }
    }

    /// What the filters want where it cannot be.
    var filterProblem: String? {
        let subject = selector.subjectText
        if isAboutAccept {
            let isNamed = filters.session != nil || filters.attempt != nil || filters.retry != nil
            if isNamed { return "'\(subject)' is before any request: nobody knows its session or attempt" }
            if let since = filters.since, since.mark != .run {
                return "'\(subject)' is before 'since \(since.mark.rawValue)'"
            }
            if filters.per == .connection { return "'\(subject)' comes once a connection: count it per run" }
        }
        if let since = filters.since, since.mark != .run, isOpening {
            return
                "'\(subject)' opens the connection that 'since \(since.mark.rawValue)' counts from; write 'since run'"
        }
        guard selector.isPoint(.time) else { return nil }
        if filters.since == nil { return "time needs a moment: since run=5s" }
        return selector.occurrence == nil ? nil : "a moment comes once a connection: it has no ordinal"
    }

    var isAboutAccept: Bool { selector.isPoint(.accept) || selector.isPoint(.tls) }

    /// Whether there is no connection of the session before the request.
    private var isOpening: Bool { [.connect, .negotiate, .operation].contains(where: selector.isPoint) }

    /// Over which the request can be; nil: any.
    private var transports: [Transport]? {
        guard case .point(let point) = selector.subject else { return nil }
        switch point {
        case .upgrade: return [.ws]
        case .poll: return [.lp]
        case .stream: return [.sse, .stream, .multipart]
        case .operation: return [.http, .sse, .multipart]
        case .accept, .tls, .connect, .request, .negotiate, .send, .refresh, .handshake, .subscribe, .message, .close,
            .time:
            return nil
        }
    }
}
