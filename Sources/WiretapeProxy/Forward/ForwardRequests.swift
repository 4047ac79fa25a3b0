internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// Requests in absolute form on one connection to a forward proxy. They may name different hosts: when one does, it waits
/// until the requests before it have their answers; then the stream of the host before it is retired.
final class ForwardRequests {
    // Lifetime: the client keeps it as long as it is one that sends such requests.
    private unowned let client: ForwardClient
    private let door: ForwardDoor
    private let seat: Seat?
    private var requests = HTTPScanner(.toServer)
    private var answers = HTTPScanner(.toClient)
    private var target: ForwardTarget?
    private(set) var current: ForwardStream?
    /// Requests that have no whole answer yet.
    private var outstanding = 0
    /// The last of them may turn the connection into something else.
    private var mayUpgrade = false
    private var isInBody = false
    /// Read and not looked at: what it is depends on an answer.
    private var waiting: [UInt8] = []
    private var hasEnd = false
    /// What is wrong with what the client said last.
    private var refusal: HTTPFault?
    /// The answer that is being read is interim (1xx): another one follows.
    private var isInterim = false

    init(_ client: ForwardClient, _ door: ForwardDoor, _ seat: Seat?) {
        self.client = client
        self.door = door
        self.seat = seat
    }

    /// Whether more of the client is wanted.
    var isReading: Bool { waiting.isEmpty && (current?.isReading ?? true) }

    // MARK: What the client says

    func received(_ bytes: Span<UInt8>) {
        if isOver, current != nil {
            goOn()
            return client.received(bytes)
        }
        // What follows a request for an upgrade is what its answer makes it.
        guard waiting.isEmpty, !mayUpgrade || isInBody else { return wait(bytes) }
        var at = 0
        var start = 0
        while true {
            switch requests.scan(bytes, from: at) {
            case .more:
                if isInBody { current?.deliver(bytes.extracting(start..<bytes.count)) }
                settlePhase()
                return
            case .request(let head, let info, let next):
                guard begin(head, info, bytes.extracting(next..<bytes.count)) else { return }
                start = next
                at = next
            case .body(_, let next): at = next
            case .end(_, let next):
                isInBody = false
                current?.deliver(bytes.extracting(start..<next))
                start = next
                at = next
                guard mayUpgrade, next < bytes.count else { continue }
                return wait(bytes.extracting(next..<bytes.count))
            case .bad(let fault, _):
                refusal = fault
                if outstanding == 0 { refuse() }
                return
            case .response: return
            }
        }
    }

    func receivedEnd() {
        hasEnd = true
        if waiting.isEmpty { tellEnd() }
    }

    /// What it said is no HTTP, and all before that is answered.
    private func refuse() {
        if let refusal { client.refuse(refusal.status, refusal.reason) }
    }

    /// Nothing more is said to any host.
    func leave() {
        current?.retire()
        current = nil
        waiting = []
    }

    private func tellEnd() {
        if let current { current.deliverEnd() } else { client.finish() }
    }

    /// - Returns: false when the request waits, or was answered for good.
    private func begin(_ head: RequestHead, _ info: HTTPHeadInfo, _ rest: Span<UInt8>) -> Bool {
        let wanted = ForwardTarget(absolute: head)
        guard wanted == target || outstanding == 0 else {
            waitAgain(info.raw, rest)
            return false
        }
        guard let wanted else {
            if head.method == "CONNECT" {
                client.refuse(400, "CONNECT behind other requests is not served; ask for it on a connection of its own")
            } else {
                answerByOurselves(head)
            }
            return false
        }
        if wanted.host == ForwardDoor.magicHost {
            answerByOurselves(head)
            return false
        }
        if wanted != target {
            guard seat?.findOnward() ?? true else {
                client.refuse(with: OwnAnswer.noPlace, ForwardTunnel.Failure.noPlace.reason)
                return false
            }
            change(to: wanted)
        }
        outstanding += 1
        mayUpgrade = info.isUpgrade
        isInBody = true
        answers.expect(method: head.method)
        let raw = HTTPHeadWriter.rewritingHost(HTTPHeadWriter.originForm(info.raw), to: wanted.name(isTLS: false))
        current?.deliver(raw.span)
        return true
    }

    private func change(to wanted: ForwardTarget) {
        current?.retire()
        target = wanted
        answers = HTTPScanner(.toClient)
        let stream = client.makeStream()
        current = stream
        stream.begin(
            door.scope.isTunnelled(wanted)
                ? door.unseen.accept(stream, nil, wanted, isTLS: false) : door.serve(stream, nil, wanted, false))
    }

    /// The page of the magic host, or what a request means that names no host.
    private func answerByOurselves(_ head: RequestHead) {
        // A target with an authority that cannot be asked, as `http://host:99999/`, is no page of ours.
        let isPage =
            ForwardTarget(absolute: head)?.host == ForwardDoor.magicHost || head.authority == nil && head.path == "/"
        guard isPage, head.authority == nil || head.target.lowercased().hasPrefix("http://") else {
            let what =
                head.authority == nil
                ? "this is a proxy, and '\(Summary.line(head.target))' names no host: set it as the client's proxy (http_proxy), or "
                    + "leave --mode forward out to stand in front of one server"
                : "'\(Summary.line(head.target))' cannot be asked of a proxy; https is for CONNECT"
            return client.refuse(400, what)
        }
        var out: [UInt8] = []
        HTTPHeadWriter.append(door.page(head), isHead: head.method == "HEAD", keepAlive: false, into: &out)
        client.outer.write(out.span)
        client.finish()
    }

    private func wait(_ bytes: Span<UInt8>) {
        waiting.append(copying: bytes)
        client.updateReading()
    }

    /// A request is read again when it is its turn.
    private func waitAgain(_ raw: [UInt8], _ rest: Span<UInt8>) {
        requests = HTTPScanner(.toServer)
        waiting = raw
        waiting.append(copying: rest)
        client.updateReading()
    }

    private func settlePhase() {
        let phase: Seat.Phase =
            !requests.partialHead.isEmpty ? .head : outstanding > 0 ? .busy : isInBody ? .body : .idle
        seat?.move(to: phase, at: door.loop.now)
    }

    // MARK: What the host answers

    /// Looks where answers end.
    func answered(_ bytes: Span<UInt8>) {
        guard current != nil else { return }
        var at = 0
        while true {
            switch answers.scan(bytes, from: at) {
            case .more: return
            case .response(let head, let info, let next):
                at = next
                isInterim = info.isInterim
                // Nobody knows what follows an upgrade: it is all of this host's.
                if head.status == 101 { return client.ring() }
            case .body(_, let next): at = next
            case .end(_, let next):
                at = next
                guard !isInterim else { continue }
                outstanding = max(0, outstanding - 1)
                if outstanding == 0 {
                    mayUpgrade = false
                    client.ring()
                }
            case .bad: return client.ring()
            case .request: return
            }
        }
    }

    /// What an answer has decided. Not from within a call of whoever answers.
    func goOn() {
        guard let current else { return }
        if isOver {
            let rest = waiting
            waiting = []
            client.serve(current)
            current.deliver(rest.span)
            if hasEnd { current.deliverEnd() }
            return client.updateReading()
        }
        settlePhase()
        guard outstanding == 0 else { return }
        if refusal != nil { return refuse() }
        guard !waiting.isEmpty else { return }
        let rest = waiting
        waiting = []
        received(rest.span)
        client.updateReading()
        if hasEnd, waiting.isEmpty { tellEnd() }
    }

    /// Whether what the host says is no HTTP any more.
    private var isOver: Bool { answers.isOver }
}
