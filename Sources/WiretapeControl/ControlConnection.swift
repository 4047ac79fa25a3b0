internal import WiretapeBytes
internal import WiretapeRuntime
internal import WiretapeWire

/// What a request comes to.
enum ControlReply {
    case json(JSONValue, status: Int)
    case text(String, type: String)
    /// A file of the web page, or one like it.
    case file(PageFile)
    /// Events of a run, from behind a number on.
    case events(EventSubscription)
    /// The answer comes later, by ``ControlConnection/answer(_:isHead:)``.
    case later
}

/// Whose events somebody wants, and how far they were told.
struct EventSubscription {
    let run: Int
    /// The last entry that was told, or left out.
    var after: UInt64
    /// Nil: all.
    let types: Set<String>?
    var saidAt = WireInstant.zero
}

/// A program's connection to the control API. Requests are answered one after the other; one that streams events does so until one side
/// ends it.
final class ControlConnection: StreamHandler {
    /// Bytes on their way above which nothing more is said.
    private static let mostQueued = 64 << 10
    /// The same of events: who does not read costs no more than that.
    private static let mostEventsQueued = 32 << 10
    /// Bytes that the kernel may hold of them for somebody who does not take them.
    private static let mostUntaken = 256 << 10
    private static let requestTime: UInt64 = 30_000_000_000
    private static let idleTime: UInt64 = 75_000_000_000
    private static let endTime: UInt64 = 5_000_000_000
    private static let beatTime: UInt64 = 15_000_000_000

    let id: Int
    private(set) var subscription: EventSubscription?
    private let server: ControlServer
    private let stream: any ByteStream
    private var endpoint = ServerEndpoint()
    private var head: RequestHead?
    private var wantsFIN = false
    private var sentFIN = false
    private var sawFIN = false
    private var isGone = false
    private var isPumping = false
    /// When it said or took something last, and what it had not taken then.
    private var since: WireInstant
    private var queuedThen = 0

    init(_ server: ControlServer, _ id: Int, _ stream: any ByteStream) {
        self.server = server
        self.id = id
        self.stream = stream
        since = server.loop.now
        endpoint.mostBody = ControlServer.mostBody
        endpoint.refusesInJSON = true
    }

    // MARK: The stream

    func connected() {}

    func received(_ bytes: Span<UInt8>) {
        guard !sentFIN else { return }
        if endpoint.awaited == .request { since = server.loop.now }
        endpoint.received(bytes)
        pump()
    }

    func receivedEnd() {
        sawFIN = true
        endpoint.receivedEnd()
        pump()
    }

    func drained() {
        since = server.loop.now
        if subscription != nil { server.isReady(self) }
        pump()
    }

    func ended(_ how: StreamEnd) {
        isGone = true
        subscription = nil
        endpoint.lost(.fin)
        server.remove(self)
    }

    func abort() {
        if !isGone { stream.reset() }
    }

    /// The API stops.
    func goAway() {
        endEvents()
        endpoint.writer.finish()
        pump()
    }

    /// There is no place for it.
    func refuse(_ why: String) {
        let body = ControlError(503, why).json.text
        let text =
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        stream.write(Array(text.utf8).span)
        sentFIN = true
        stream.halfClose()
    }

    /// Looks whether it has kept us waiting too long.
    func tend(at now: WireInstant) {
        if stream.queued != queuedThen, subscription == nil {
            queuedThen = stream.queued
            since = now
        }
        if let subscription {
            guard stream.queued == 0, now.since(max(subscription.saidAt, since)) >= Self.beatTime else { return }
            self.subscription?.saidAt = now
            say(": still here\n\n")
            return flush()
        }
        let quiet = now.since(since)
        if sentFIN || stream.queued > 0 {
            if quiet >= (sentFIN ? Self.endTime : Self.requestTime) { stream.reset() }
            return
        }
        switch endpoint.awaited {
        case .nothing: break
        case .request: if quiet >= Self.idleTime { endpoint.writer.finish() }
        case .head, .body:
            if quiet >= Self.requestTime {
                endpoint.timeOut("the request was not whole after \(DurationText.spoken(Self.requestTime))")
            }
        }
        pump()
    }

    /// Does what has come, and writes what was said.
    func pump() {
        guard !isPumping, !isGone else { return }
        isPumping = true
        while stream.queued + endpoint.writer.outputCount <= Self.mostQueued, let event = endpoint.next() {
            take(event)
        }
        isPumping = false
        flush()
    }

    private func take(_ event: ServerEvent) {
        switch event {
        case .request(let head, let body, _):
            since = server.loop.now
            self.head = head
            server.handle(head, body, on: self)
        case .finish: wantsFIN = true
        case .ended: if subscription == nil, !endpoint.writer.owesAnswer { endpoint.writer.finish() }
        case .refused, .message, .ping, .pong: break
        }
    }

    private func flush() {
        guard !isGone else { return }
        if endpoint.writer.outputCount > 0, !sentFIN {
            let bytes = endpoint.writer.takeOutput()
            stream.write(bytes.span)
            since = server.loop.now
        }
        if wantsFIN, !sentFIN {
            sentFIN = true
            subscription = nil
            stream.halfClose()
            since = server.loop.now
        }
        guard !isGone, !sawFIN else { return }
        let reads = sentFIN || endpoint.pendingCount <= Self.mostQueued && stream.queued <= Self.mostQueued
        if stream.isReading != reads { stream.isReading = reads }
    }

    /// Whether its request comes from a page.
    var isOfPage: Bool { head?.headers.first("Origin") != nil }

    /// What a subscriber that comes back was told last.
    var lastEventID: String? { head?.headers.first("Last-Event-ID") }

    // MARK: Answers

    func answer(_ reply: ControlReply, isHead: Bool) {
        switch reply {
        case .json(let value, let status): respond(status, "application/json", value.text + "\n")
        case .text(let text, let type): respond(200, type, text)
        case .file(let file): respond(200, file.type, file.bytes, file.headers)
        case .later: break
        case .events(let subscription):
            guard !isHead else { return respond(200, "text/event-stream", "") }
            guard endpoint.writer.owesAnswer, let head else { return }
            let fields = [
                HeaderField("Content-Type", "text/event-stream"), HeaderField("Cache-Control", "no-store"),
                HeaderField("X-Accel-Buffering", "no"),
            ]
            let start = Array("retry: 1000\n\n".utf8)
            endpoint.writer.beginStream(
                HTTPAnswer(status: 200, headers: fields + ControlAccess.cors(head), body: start), date: nil)
            self.subscription = subscription
            server.isReady(self)
        }
    }

    func answer(_ error: ControlError, extra: [HeaderField] = []) {
        respond(error.status, "application/json", error.json.text + "\n", extra)
    }

    /// The answer to `OPTIONS`.
    func allow(_ allow: HeaderField, _ head: RequestHead) {
        var fields = [allow] + ControlAccess.cors(head)
        if head.headers.first("Origin") != nil {
            fields += [
                HeaderField("Access-Control-Allow-Methods", allow.value),
                HeaderField("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"),
                HeaderField("Access-Control-Max-Age", "600"),
            ]
        }
        endpoint.writer.answer(HTTPAnswer(status: 204, headers: fields), thenClose: false, date: nil)
    }

    private func respond(_ status: Int, _ type: String, _ text: String, _ extra: [HeaderField] = []) {
        respond(status, type, Array(text.utf8), extra)
    }

    private func respond(_ status: Int, _ type: String, _ body: [UInt8], _ extra: [HeaderField]) {
        guard endpoint.writer.owesAnswer, let head else { return }
        var fields = [HeaderField("Content-Type", type), HeaderField("Cache-Control", "no-store")] + extra
        // A page that is not let in reads nothing, not even why.
        if server.access.letsIn(head) { fields += ControlAccess.cors(head) }
        endpoint.writer.answer(
            HTTPAnswer(status: status, headers: fields, body: body), thenClose: false, date: nil)
    }

    // MARK: Events

    /// How a subscriber stands after it was told something.
    struct Fed {
        enum State {
            /// It was told everything.
            case all
            /// What was said last has to leave first: ``drained()`` tells.
            case full
            /// It has not taken what was said before. Nobody tells when it has.
            case slow
            /// There is more, and others come first.
            case some
        }

        var state: State
        /// Bytes that were said.
        var bytes = 0
        /// Events that it has lost since they were kept no more.
        var lost: UInt64 = 0
    }

    /// Says what its subscriber has not been told.
    func feed(from journal: RunJournal) -> Fed {
        guard var subscription, endpoint.writer.isStreaming else { return Fed(state: .full) }
        // What its kernel and ours hold of a reader that sleeps is memory, too.
        if stream.queued > Self.mostEventsQueued { return Fed(state: .full) }
        if stream.unacknowledged > Self.mostUntaken { return Fed(state: .slow) }
        var lost: UInt64 = 0
        if subscription.after + 1 < journal.oldest {
            lost = journal.oldest - subscription.after - 1
            subscription.after = journal.oldest - 1
            say("event: gap\ndata: \(RunJournal.text("gap", 0, [.init("lost", .number(lost))]))\n\n")
        }
        for entry in journal.entries(after: subscription.after) {
            if stream.queued + endpoint.writer.outputCount > Self.mostEventsQueued { break }
            subscription.after = entry.number
            if let types = subscription.types, !types.contains(entry.event) { continue }
            say("id: \(entry.number)\nevent: \(entry.event)\ndata: \(entry.text)\n\n")
        }
        subscription.saidAt = server.loop.now
        self.subscription = subscription
        let bytes = endpoint.writer.outputCount
        flush()
        if stream.queued > Self.mostEventsQueued { return Fed(state: .full, bytes: bytes, lost: lost) }
        return Fed(state: subscription.after < journal.latest ? .some : .all, bytes: bytes, lost: lost)
    }

    /// There are no further events.
    func endEvents() {
        guard subscription != nil else { return }
        subscription = nil
        endpoint.writer.endStream()
        pump()
    }

    private func say(_ text: String) { endpoint.writer.piece(Array(text.utf8).span) }
}
