package import WiretapeProtocol
internal import WiretapeRuntime
package import WiretapeWire

/// How the answers of a replay lead back to it: on the tape they stand as the server said them. Whatever server they name, nobody
/// is sent to it.
package struct ReplayLeading {
    private let rules: LeadBackRules?
    private let codecs: [CodecEntry]
    private let isForward: Bool
    /// The recorded upstreams that have listeners of their own, by where they were.
    private let upstreams: [WebOrigin: String]
    /// What servers are that are no upstreams.
    private let home: String?
    private var listeners: [String: Address] = [:]

    /// - Parameters:
    ///   - rules: nil: addresses stay as they were recorded.
    ///   - codecs: those whose answers may lead away.
    ///   - upstreams: of a tape with several; the others' clients come to the listener of the first.
    ///   - isForward: clients name the hosts: addresses are right as they are.
    package init(
        _ rules: LeadBackRules? = .standard, _ codecs: [CodecEntry] = [],
        upstreams: [(name: String, server: WebOrigin)] = [], isForward: Bool = false
    ) {
        self.rules = rules
        self.codecs = codecs
        self.isForward = isForward
        self.upstreams = Dictionary(upstreams.map { ($0.server, $0.name) }) { first, _ in first }
        home = upstreams.first?.name
    }

    /// A listener is open for the clients of an upstream.
    mutating func listens(_ upstream: String?, at address: Address) {
        if let upstream, listeners[upstream] == nil { listeners[upstream] = address }
    }

    /// An answer that was recorded as a client gets it.
    /// - Parameters:
    ///   - head: what it is the answer to.
    ///   - upstream: the one whose listener the client came to.
    func led(_ answer: HTTPAnswer, to head: RequestHead, overTLS: Bool, at upstream: String?) -> HTTPAnswer {
        let fields = rules?.fields ?? []
        let concerns = LeadingBack.concerns(answer.headers, fields)
        let looksAtBody =
            !answer.body.isEmpty && !isForward
            && (rules?.names(head) == true || codecs.contains { $0.type.mayLeadAway(head) })
        guard concerns || looksAtBody, let host = head.headers.first("Host") else { return answer }
        // A proxy with TLS in front says so.
        let isTLS = overTLS || equalIgnoringCase(head.headers.first("X-Forwarded-Proto") ?? "", "https")
        let own = ForwardTarget(authority: host, defaultPort: isTLS ? 443 : 80)
        let leading = LeadingBack(
            server: WebOrigin(own ?? ForwardTarget(host: host, port: 80), isTLS: isTLS), isTLS: isTLS,
            isForward: isForward, fields: fields
        ) { server in
            guard let rules, rules.leads(server) else { return nil }
            let name = upstreams[server] ?? home
            guard let name, name != upstream, let own, let listener = listeners[name] else { return host }
            return ForwardTarget(host: own.host, port: listener.port).name(isTLS: isTLS)
        }
        var answer = answer
        if concerns { answer.headers = leading.edited(answer.headers) }
        guard looksAtBody else { return answer }
        for codec in codecs where codec.type.mayLeadAway(head) {
            if let body = codec.type.leading(answer.body, leading.url) {
                answer.body = body
                return answer
            }
        }
        if let body = rules?.leading(answer.body, to: head, leading.url) { answer.body = body }
        return answer
    }
}
