internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// A recorded answer made anew for a client of the replay: what belongs to the recorded connection, server and moment
/// goes, everything else stays. A `Content-Encoding` that is still there is true of the body: it could not be decoded.
enum ExchangeAnswer {
    /// Made by the server that answers, or true of the recorded connection only.
    private static let dropped: Set<String> = [
        "date", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "trailer",
        "upgrade", "strict-transport-security", "alt-svc", "access-control-allow-origin",
        "access-control-allow-credentials",
    ]

    /// The head of a recorded answer with another body, whose type and length others say.
    static func headers(of recorded: StreamOpening, for head: RequestHead) -> [HeaderField] {
        guard let response = recorded.response else { return [] }
        let exchange = RecordedExchange(
            event: 0, line: 0, time: 0, answered: 0, connection: 0, request: recorded.request, response: response)
        return make(exchange, for: head).headers.filter {
            !equalIgnoringCase($0.name, "Content-Type") && !equalIgnoringCase($0.name, "Content-Encoding")
        }
    }

    static func make(_ exchange: RecordedExchange, for head: RequestHead) -> HTTPAnswer {
        var headers: [HeaderField] = []
        for field in exchange.response.headers {
            let name = field.name.lowercased()
            if dropped.contains(name) { continue }
            var field = field
            switch name {
            case "set-cookie": field.value = cookie(field.value)
            case "location", "content-location":
                field.value = located(field.value, recorded: exchange.request, live: head)
            default: break
            }
            headers.append(field)
        }
        return HTTPAnswer(
            status: exchange.response.status, reason: exchange.response.reason, headers: headers,
            body: exchange.responseBody)
    }

    /// A cookie of any domain, over plain HTTP: without `Domain` and `Secure`, and without `SameSite=None`, which browsers
    /// take with `Secure` only.
    private static func cookie(_ value: String) -> String {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
        let kept = parts.enumerated().filter { i, part in
            let name = part.prefix { $0 != "=" }.lowercased()
            return i == 0 || !(name == "domain" || name == "secure" || part.lowercased() == "samesite=none")
        }
        return kept.map(\.element).joined(separator: "; ")
    }

    /// An address of the recorded server becomes one of ours.
    private static func located(_ value: String, recorded: RequestHead, live: RequestHead) -> String {
        guard let mark = value.firstRange(of: "://"), let host = recorded.headers.first("Host"),
            let own = live.headers.first("Host")
        else { return value }
        let rest = value[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard equalIgnoringCase(authority, host) else { return value }
        return "http://\(own)\(rest.dropFirst(authority.count))"
    }
}
