package import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// What a plan's rules can touch, before anything has happened: connections that they cannot are passed through untouched.
package final class FaultReach: Sendable {
    private let rules: [FaultRule]
    private let codecs: [CodecEntry]
    /// Whether a rule is about connections before their first request · about time.
    package let hasAccept: Bool
    package let hasTime: Bool
    /// Whether a rule is about TLS handshakes.
    package let hasTLS: Bool
    package let isEmpty: Bool
    /// Labels and types that rules name.
    let labels: Set<String>
    /// Whether a rule can be about a protocol's keepalives: only a type names them.
    let namesKeepalives: Bool

    /// Whether a rule is about messages whatever their labels.
    private let hasMessagePoint: Bool

    package init(_ plan: FaultPlan, _ codecs: [CodecEntry]) {
        rules = plan.rules
        self.codecs = codecs
        isEmpty = plan.rules.isEmpty
        hasAccept = plan.rules.contains { $0.selector.subject == .point(.accept) }
        hasTLS = plan.rules.contains { $0.selector.subject == .point(.tls) }
        labels = Set(
            plan.rules.compactMap { if case .label(let label) = $0.selector.subject { label } else { nil } })
        hasMessagePoint = plan.rules.contains { rule in
            if case .point(let point) = rule.selector.subject { point.isMessage } else { false }
        }
        namesKeepalives = !labels.isEmpty
        hasTime = plan.rules.contains { $0.selector.subject == .point(.time) }
    }

    /// Whether a rule can be about the message.
    func concerns(_ message: Message) -> Bool {
        if hasMessagePoint || labels.contains(message.type) { return true }
        if let label = message.label, labels.contains(label) { return true }
        if let channel = message.channel, labels.contains(channel) { return true }
        return false
    }

    /// Whether a rule can be about the request, about what it opens, or about a session that begins with it.
    package func touches(_ head: RequestHead) -> Bool {
        guard !isEmpty else { return false }
        var kinds: [(kind: ExchangeKind, codec: CodecEntry)] = []
        for entry in codecs { kinds.append((entry.type.kind(head), entry)) }
        return rules.contains { rule in touches(rule.selector, head, kinds) }
    }

    private func touches(
        _ selector: Selector, _ head: RequestHead, _ kinds: [(kind: ExchangeKind, codec: CodecEntry)]
    ) -> Bool {
        let ofSession = kinds.filter { $0.kind != .other && $0.kind != .preflight }
        let told = kinds.filter { $0.codec.type.mayBeTold(head) }
        for condition in selector.conditions {
            switch condition {
            case .path(let path): guard reaches(path, head, kinds.map(\.codec)) else { return false }
            case .protocol(let id):
                guard (ofSession + told).contains(where: { $0.codec.id == id }) else { return false }
            case .transport(let transports):
                if !told.isEmpty, transports.contains(.sse) || transports.contains(.stream) { continue }
                if ofSession.allSatisfy({ $0.kind == .upgrade }), !transports.contains(.ws) { return false }
            case .direction, .type, .named, .invocation, .pointer, .regex, .size, .method, .header, .staleToken,
                .listener, .endedBy, .code:
                break
            }
        }
        guard case .point(let point) = selector.subject else {
            return !ofSession.isEmpty || !told.isEmpty
        }
        switch point {
        case .message, .close: return !ofSession.isEmpty || !told.isEmpty
        case .accept, .tls: return false
        case .request: return true
        case .negotiate, .poll, .send, .stream, .refresh:
            // A session that is negotiated: what follows is of its route, and known by that.
            return ofSession.contains { $0.kind != .upgrade && $0.kind != .end }
        case .connect, .upgrade, .operation, .handshake, .subscribe, .time: return !ofSession.isEmpty
        }
    }

    /// Whether the request is on the path that a rule names, or on the route that it leads to.
    private func reaches(_ path: String, _ head: RequestHead, _ codecs: [CodecEntry]) -> Bool {
        let isOpen = path.hasSuffix("*")
        let named = isOpen ? String(path.dropLast()) : path
        if isOpen ? head.path.hasPrefix(named) : head.path == named { return true }
        let other = RequestHead(method: "GET", target: named)
        return codecs.contains { entry in
            let route = entry.type.route(head)
            return isOpen ? route.hasPrefix(named) : route == entry.type.route(other)
        }
    }
}
