internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeRuntime
package import WiretapeWire

/// Leads the clients of one loop's relays back that a server sends elsewhere: the other server gets a listener of its own, beside
/// that of the upstream, and the client is sent there. Confined to the thread of its loop.
package final class LeadBack {
    /// What is remembered of a request until its answer has come.
    struct Request {
        let head: RequestHead
        /// The origin of the client's page as the server hears it, and as it is, where the two differ.
        var page: (told: String, own: String)?
        /// Whether addresses may stand in the body of the answer.
        let looksAtBody: Bool
    }

    /// An answer in whose body addresses may stand: it waits until it is whole.
    struct HeldAnswer {
        /// As it is when nothing in the body is led.
        var raw: [UInt8]
        let head: ResponseHead
        let request: Request
        var body: [UInt8] = []
    }

    /// Longer bodies pass as they are.
    static let bodyLimit = 64 << 10
    /// Hops in circles at which that is said, and at which it is ended. No client that has a limit makes so many.
    private static let circlesToSay = 20
    private static let circlesToEnd = 200
    private static let mostTracks = 1_024

    let rules: LeadBackRules
    private let book: LeadBackBook
    private let codecs: [CodecEntry]
    private let make: (Upstream) -> RelayNode
    /// Relays of servers that are no upstreams.
    private var nodes: [RelayNode] = []
    /// Requests that clients were sent to make, and how many such steps led there.
    private var tracks: [String: Int] = [:]

    /// - Parameters:
    ///   - book: of the run, shared by its loops.
    ///   - codecs: those whose answers may lead away.
    ///   - make: the relay of a server that clients are sent to.
    package init(
        _ rules: LeadBackRules, _ book: LeadBackBook, _ codecs: [CodecEntry], make: @escaping (Upstream) -> RelayNode
    ) {
        self.rules = rules
        self.book = book
        self.codecs = codecs
        self.make = make
    }

    /// A relay listens: clients that are sent to its server are sent there.
    func listens(_ node: RelayNode) {
        if let door = node.door { book.add(node.origin, door) }
    }

    package func hold() { for node in nodes { node.hold() } }
    package func release() { for node in nodes { node.release() } }

    /// Ends the relays of servers that are no upstreams; `done` is called for each of them.
    /// - Returns: how many there are.
    package func stop(_ done: @escaping () -> Void) -> Int {
        let stopped = nodes
        nodes = []
        for node in stopped {
            // It is kept by its own timer until it has stopped.
            node.stop {
                _ = node
                done()
            }
        }
        return stopped.count
    }

    // MARK: Requests

    /// What has to be known of a request when its answer comes.
    func request(_ head: RequestHead, at node: RelayNode) -> Request {
        var page: (String, String)?
        if !node.options.keepHost, let own = head.headers.first("Origin"), let server = server(ofPage: own, head) {
            page = (server.text, own)
        }
        return Request(
            head: head, page: page,
            looksAtBody: rules.names(head) || codecs.contains { $0.type.mayLeadAway(head) })
    }

    /// The bytes of a request's head as the server would have them from a client of its own: without our addresses in `Origin`
    /// and `Referer`.
    func towardsServer(_ request: Request, _ raw: [UInt8], at node: RelayNode) -> [UInt8] {
        guard !node.options.keepHost, request.page != nil || request.head.headers.first("Referer") != nil else {
            return raw
        }
        let edited = HTTPHeadWriter.editing(raw) { name, value in
            if let page = request.page, equalIgnoringCase(name, "Origin") { return .value(page.told) }
            guard equalIgnoringCase(name, "Referer"), let url = WebURL(value),
                let server = self.server(ofPage: value, request.head)
            else { return .keep }
            return .value(server.text + url.rest)
        }
        return edited ?? raw
    }

    /// The server that a URL of ours stands for, as the client that made this request knows us.
    private func server(ofPage text: String, _ head: RequestHead) -> WebOrigin? {
        WebURL(text).flatMap { self.server(at: $0.origin.target, head) }
    }

    private func server(at target: ForwardTarget, _ head: RequestHead) -> WebOrigin? {
        guard let server = book.server(at: target.port) else { return nil }
        let asked = head.headers.first("Host").flatMap { ForwardTarget(authority: $0, defaultPort: 80) }
        return target.host == asked?.host || AccessPolicy.isLoopback(target.host) ? server : nil
    }

    // MARK: Answers

    /// The head of an answer as it leads back; nil: it goes on as it came.
    func towardsClient(_ head: ResponseHead, _ raw: [UInt8], to request: Request, at node: RelayNode) -> [UInt8]? {
        guard LeadingBack.concerns(head.headers, rules.fields) else {
            if !tracks.isEmpty, head.status >= 200, !request.looksAtBody { arrived(request, at: node) }
            return nil
        }
        let leading = leading(request, at: node)
        if head.status >= 200 { follow(head, request, leading, at: node) }
        if node.door?.isTLS != true {
            for cookie in head.headers.all("Set-Cookie") {
                guard let name = LeadingBack.impossibleOverPlain(cookie) else { continue }
                book.complain(
                    "the cookie '\(Summary.line(name))' of \(node.origin.text) asks for TLS by its name, and clients that heed that "
                        + "refuse it over plain HTTP: with --tls the listener speaks TLS")
            }
        }
        return HTTPHeadWriter.editing(raw, leading.edit)
    }

    /// Whether the answer has to be whole before it goes on.
    func holds(_ head: ResponseHead, _ info: HTTPHeadInfo, to request: Request) -> Bool {
        guard request.looksAtBody, 200..<300 ~= head.status, request.head.method != "HEAD" else { return false }
        if case .length(let count) = info.framing { return count > 0 && count <= UInt64(Self.bodyLimit) }
        return info.framing != .none
    }

    /// The whole answer as it leads back; nil: it goes on as it came.
    func whole(_ answer: HeldAnswer, at node: RelayNode) -> [UInt8]? {
        guard
            let plain = try? ContentDecoder.whole(
                answer.body, answer.head.headers.contentCodings, limit: 16 * Self.bodyLimit),
            let body = body(plain, to: answer.request, at: node)
        else { return nil }
        var raw = HTTPHeadWriter.replacing("Transfer-Encoding", with: nil, in: headOnly(answer.raw))
        raw = HTTPHeadWriter.replacing("Content-Encoding", with: nil, in: raw)
        raw = HTTPHeadWriter.setting("Content-Length", to: "\(body.count)", in: raw)
        return raw + body
    }

    private func headOnly(_ raw: [UInt8]) -> [UInt8] {
        guard let end = raw.firstRange(of: [0x0d, 0x0a, 0x0d, 0x0a]) ?? raw.firstRange(of: [0x0a, 0x0a]) else {
            return raw
        }
        return Array(raw[..<end.upperBound])
    }

    /// The body of an answer as it leads back; nil: it stays as it is.
    func body(_ plain: [UInt8], to request: Request, at node: RelayNode) -> [UInt8]? {
        let leading = leading(request, at: node)
        let led = { [self] (text: String) -> String? in
            guard let new = leading.url(text) else { return nil }
            if let url = WebURL(text) {
                let path = url.rest.prefix { $0 != "?" && $0 != "#" }
                step(from: request, to: url.origin, "\(path)/negotiate", at: node)
            }
            return new
        }
        for codec in codecs where codec.type.mayLeadAway(request.head) {
            if let body = codec.type.leading(plain, led) { return body }
        }
        if let body = rules.leading(plain, to: request.head, leading.url) { return body }
        if !tracks.isEmpty { arrived(request, at: node) }
        return nil
    }

    private func leading(_ request: Request, at node: RelayNode) -> LeadingBack {
        LeadingBack(
            server: node.origin, isTLS: node.door?.isTLS ?? false, fields: rules.fields, page: request.page
        ) { [self] in place(of: $0, for: request.head, at: node) }
    }

    /// The authority under which that client finds us in place of a server.
    private func place(of server: WebOrigin, for head: RequestHead, at node: RelayNode) -> String? {
        guard let own = node.door else { return nil }
        let asked = head.headers.first("Host")
        if server == node.origin { return asked ?? own.address.description }
        // A server that was told our address says it again: it leads here already.
        guard rules.leads(server), self.server(at: server.target, head) == nil,
            let door = book.door(server, isTLS: own.isTLS) ?? open(server, beside: node)
        else {
            return nil
        }
        var host = door.address.host
        if host == own.address.host || host == "0.0.0.0" || host == "::" {
            host = asked.flatMap { ForwardTarget(authority: $0, defaultPort: 80) }?.host ?? host
        }
        return ForwardTarget(host: host, port: door.address.port).name(isTLS: door.isTLS)
    }

    /// A listener for a server that clients are sent to.
    private func open(_ server: WebOrigin, beside node: RelayNode) -> LeadBackBook.Door? {
        guard let own = node.door else { return nil }
        guard book.takePlace() else {
            book.complain(
                "clients are led back from \(LeadBackBook.most) servers, and from no more: they go to \(server.text) by themselves"
            )
            return nil
        }
        let other = make(
            Upstream(
                name: server.text, url: server.text, host: server.target.host, port: server.target.port,
                isTLS: server.isTLS))
        do {
            _ = try other.listen(
                on: Address(host: own.address.host, port: 0), reusePort: false, door: node.tlsDoor)
        } catch {
            book.complain("no listener could be opened for \(server.text): \(error); clients go there by themselves")
            other.stop {}
            return nil
        }
        other.leadBack = self
        nodes.append(other)
        guard let door = other.door else { return nil }
        book.add(server, door)
        let scheme = door.isTLS ? "https" : "http"
        book.say("\(node.origin.text) leads clients to \(server.text): they are sent to \(scheme)://\(door.address)")
        return door
    }

    // MARK: Circles

    /// Why a request is not passed on any more: clients are led in circles. Nil: it is.
    func circle(_ head: RequestHead, at node: RelayNode) -> String? {
        guard !tracks.isEmpty, let steps = steps(to: head, at: node), steps >= Self.circlesToEnd else { return nil }
        let why = "\(steps) redirects have led here one after the other: the servers lead their clients in circles"
        node.leads(inCircles: "\(why) (508)")
        return why
    }

    /// An answer that sends the client on.
    private func follow(_ head: ResponseHead, _ request: Request, _ leading: LeadingBack, at node: RelayNode) {
        guard 300..<400 ~= head.status, let location = head.headers.first("Location") else {
            if !request.looksAtBody { arrived(request, at: node) }
            return
        }
        if let url = WebURL(location, saidOverTLS: node.origin.isTLS) {
            step(from: request, to: url, at: node)
        } else if location.hasPrefix("/") {
            step(from: request, to: node.origin, location, at: node)
        }
    }

    private func step(from request: Request, to url: WebURL, at node: RelayNode) {
        step(from: request, to: url.origin, url.rest.hasPrefix("/") ? String(url.rest) : "/\(url.rest)", at: node)
    }

    private func step(from request: Request, to server: WebOrigin, _ target: String, at node: RelayNode) {
        let steps = (steps(to: request.head, at: node) ?? 0) + 1
        if tracks.count >= Self.mostTracks { tracks = [:] }
        tracks[Self.track(server, target)] = steps
        guard steps == Self.circlesToSay else { return }
        node.leads(
            inCircles:
                "\(steps) redirects one after the other, the last from \(node.origin.text) to \(server.text): the servers "
                + "lead their clients in circles")
    }

    private func steps(to head: RequestHead, at node: RelayNode) -> Int? {
        tracks[Self.track(node.origin, head.target)]
    }

    /// Somebody has arrived there: whoever comes next begins anew.
    private func arrived(_ request: Request, at node: RelayNode) {
        tracks[Self.track(node.origin, request.head.target)] = nil
    }

    /// A negotiation is made below the path that it was sent to, with items of its own in the query.
    private static func track(_ server: WebOrigin, _ target: String) -> String {
        var path = target.prefix { $0 != "?" && $0 != "#" }
        let query = target[path.endIndex...].prefix { $0 != "#" }
        let isNegotiation = path.hasSuffix("/negotiate")
        if isNegotiation { path = path.dropLast("/negotiate".count) }
        while path.hasSuffix("/") { path = path.dropLast() }
        return "\(server.text)\(path)\(isNegotiation ? "" : query)"
    }
}
