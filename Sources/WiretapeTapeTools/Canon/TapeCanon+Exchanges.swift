internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension TapeCanon {
    /// An exchange until its answer is whole.
    struct Exchange {
        enum Role {
            /// A negotiation, or a request of no session: written as it is.
            case ordinary(isNegotiation: Bool)
            case upgrade
            case poll(Key)
            case send(Key)
            case stream(Key)
            case end(Key)
            /// A CORS preflight: replay makes its own.
            case preflight
        }

        var role: Role
        var head: RequestHead
        var time: UInt64
        /// Waits for the answer.
        var slot: Int?
        var requestBody: [UInt8] = []
        var requestIsStreamed = false
        var response: ResponseHead?
        /// What was removed of the answer's content codings, by the recorder or here, and what is still to be removed.
        var coding: String?
        var left: ContentCodings?
        /// Of an answer that is written as it comes.
        var decoder: ContentDecoder?
        var isProxys = false
        var answered: UInt64 = 0
        var responseBody: [UInt8] = []
        var number: Int
        /// Of an event stream, once its head was written, or of a body that is too long to wait for.
        var carrier: CanonCarrier?
        /// Of an operation: tells signs of life from messages.
        var codec: (any FrameCodec)?
        /// Its pieces mean something by themselves.
        var isEndless = false
        /// What they are, nothing but their arrival tells.
        var isInPieces = false
        /// A piece of the answer was written.
        var hasPieces = false
        /// What the client said with it.
        var items: [CanonItem] = []
    }

    /// A body of at most so many bytes stands inline.
    static let inlineLimit = 64 << 10

    // MARK: Requests

    mutating func request(_ x: UInt32, _ head: RequestHead, _ body: TapeEvent.Body, _ event: TapeEvent) {
        let c = event.connection
        if let host = head.headers.first("Host") { names.note(authority: host) }
        var (head, bytes) = (head, [UInt8]())
        if case .whole(let whole) = body { (head, bytes) = plain(head, whole) }
        var exchange = Exchange(
            role: role(head, bytes), head: head, time: event.time, requestBody: bytes, number: newExchange())
        if case .streamed = body { exchange.requestIsStreamed = true }
        switch exchange.role {
        case .ordinary, .end, .upgrade, .stream: exchange.slot = reserve()
        case .send:
            exchange.slot = reserve()
        case .poll(let key):
            keys[key, default: Course()].pending += 1
        case .preflight: break
        }
        connections[c, default: Track()].exchanges[x] = exchange
        if !exchange.requestIsStreamed { requestEnded(x, event) }
    }

    private func operationCodec(_ exchange: Exchange) -> (any FrameCodec)? {
        let opening = StreamOpening(request: exchange.head, requestBody: exchange.requestBody)
        let type = codecs.first { $0.type.kind(exchange.head) == .operation && $0.type.claim(opening) >= .likely }?.type
        return type?.init(opening)
    }

    mutating func role(_ head: RequestHead, _ body: [UInt8]) -> Exchange.Role {
        var opening = StreamOpening(request: head)
        opening.requestBody = body
        for entry in codecs {
            let kind = entry.type.kind(head)
            if kind == .preflight { return .preflight }
            if kind == .upgrade {
                _ = trackedRole(opening, entry)
                return .upgrade
            }
            if let role = trackedRole(opening, entry) { return role }
            if kind == .negotiate, entry.type.claim(opening) > .no { return .ordinary(isNegotiation: true) }
            guard let name = entry.type.sessionKey(opening) else { continue }
            let key = Key(codec: entry.id, key: name)
            if keys[key] == nil {
                guard kind == .send, entry.type.claim(opening) == .certain else { continue }
                keys[key] = Course()
            }
            switch kind {
            case .poll: return .poll(key)
            case .send: return .send(key)
            case .stream: return .stream(key)
            case .end: return .end(key)
            case .negotiate, .upgrade, .operation, .refresh, .preflight, .other: continue
            }
        }
        return .ordinary(isNegotiation: false)
    }

    mutating func requestEnded(_ x: UInt32, _ event: TapeEvent) {
        let c = event.connection
        guard var exchange = connections[c]?.exchanges[x] else { return }
        if exchange.requestIsStreamed {
            (exchange.head, exchange.requestBody) = plain(exchange.head, exchange.requestBody)
        }
        switch exchange.role {
        case .send(let key):
            var farewell = keys[key]?.clientFarewell ?? false
            let said = conversation(clientFarewell: &farewell)
            keys[key]?.clientFarewell = farewell
            if decoded.isEmpty, !exchange.requestBody.isEmpty {
                // Not read as messages: kept as it is.
                exchange.role = .ordinary(isNegotiation: false)
                connections[c]?.exchanges[x] = exchange
                return
            }
            let carrier = carrier(of: key, c)
            for (one, payload, _) in said {
                let number = newExchange()
                // The client's farewell races with its DELETE, or with the end of its event stream, which say the same.
                guard one.message.role != .close else { continue }
                exchange.items += sent(exchange.head, payload, key, number, carrier, exchange.time)
            }
            // A send with nothing but a keepalive leaves no trace.
            if exchange.items.isEmpty, let slot = exchange.slot {
                fill(slot, [])
                exchange.slot = nil
            }
        case .end(let key):
            keys[key]?.isEnded = true
        case .ordinary: exchange.codec = operationCodec(exchange)
        case .upgrade, .poll, .stream, .preflight: break
        }
        connections[c]?.exchanges[x] = exchange
    }

    /// A POST for one message, and its answer in the protocol's own words.
    mutating func sent(
        _ head: RequestHead, _ payload: CanonPayload, _ key: Key, _ number: Int, _ carrier: CanonCarrier, _ time: UInt64
    ) -> [CanonItem] {
        let request = canonical(head, isSession: true)
        let body: TapeEvent.Body = payload.json == nil ? .whole(payload.bytes) : .none
        let answer = codecs.first { $0.id == key.codec }?.type.answer(.sent, to: head) ?? HTTPAnswer(status: 200)
        return [
            CanonItem(
                time: time,
                what: .event(.request(x: 0, request, body), on: carrier, exchange: number, json: payload.json)),
            CanonItem(time: time, what: .event(response(answer), on: carrier, exchange: number, json: nil)),
        ]
    }

    mutating func response(_ answer: HTTPAnswer) -> TapeEvent.Kind {
        .response(
            x: 0,
            ResponseHead(status: answer.status, reason: answer.reason, headers: names.headers(answer.headers)),
            answer.body.isEmpty ? .none : .whole(answer.body), interim: false, coding: nil, proxy: false)
    }

    mutating func canonical(_ head: RequestHead, isSession: Bool) -> RequestHead {
        RequestHead(
            method: head.method, target: names.target(head.target, isSession: isSession), version: head.version,
            headers: names.headers(head.headers))
    }

    mutating func canonical(_ head: ResponseHead) -> ResponseHead {
        ResponseHead(
            status: head.status, reason: head.reason, version: head.version, headers: names.headers(head.headers))
    }

    // MARK: Answers

    mutating func response(
        _ x: UInt32, _ head: ResponseHead, _ body: TapeEvent.Body, coding: String?, proxy: Bool, _ event: TapeEvent
    ) {
        let c = event.connection
        guard var exchange = connections[c]?.exchanges[x] else { return }
        exchange.response = head
        exchange.coding = coding
        exchange.isProxys = proxy
        exchange.answered = event.time
        if case .whole(let bytes) = body { exchange.responseBody = bytes }
        nameByAnswer(&exchange)
        noteCodings(&exchange)
        connections[c]?.exchanges[x] = exchange
        if case .upgrade = exchange.role, head.status == 101 { return upgraded(x, exchange, event) }
        if isInPieces(exchange, body) {
            connections[c]?.exchanges[x]?.isEndless = true
            connections[c]?.exchanges[x]?.isInPieces = true
            connections[c]?.exchanges[x]?.responseBody = []
            beginStream(x, event)
            if case .whole(let bytes) = body { chunk(x, .toClient, bytes, event) }
        }
        guard case .streamed = body else { return answered(x, event) }
        var isEndless = head.headers.first("Content-Type").map { MediaType($0).isStream } ?? false
        if case .stream = exchange.role { isEndless = true }
        if isEndless, head.status == 200 {
            connections[c]?.exchanges[x]?.isEndless = true
            beginStream(x, event)
        }
    }

    /// Whether nothing but the arrival of the body's pieces tells what they are.
    private func isInPieces(_ exchange: Exchange, _ body: TapeEvent.Body) -> Bool {
        guard case .ordinary(isNegotiation: false) = exchange.role, let response = exchange.response,
            !exchange.isProxys
        else { return false }
        // What cannot be decoded is one body.
        if let codings = exchange.left, ContentDecoder(codings) == nil { return false }
        let opening = StreamOpening(
            request: exchange.head, response: response, requestBody: exchange.requestBody,
            responseBody: exchange.responseBody)
        var isWhole = true
        if case .streamed = body { isWhole = false }
        return codecs.told(by: opening, isWhole: isWhole)?.framing == .units(.pieces)
    }

    mutating func upgraded(_ x: UInt32, _ exchange: Exchange, _ event: TapeEvent) {
        let c = event.connection
        let carrier = own(c, x)
        writer.describe(carrier, connections[c]?.open ?? .init())
        connections[c]?.exchanges[x] = nil
        connections[c]?.socket = Socket(carrier: carrier)
        forgetPolls(of: exchange.head)
        fill(
            exchange.slot ?? reserve(),
            [
                CanonItem(
                    time: exchange.time,
                    what: .event(
                        .request(x: 0, canonical(exchange.head, isSession: true), .none), on: carrier,
                        exchange: exchange.number, json: nil)),
                CanonItem(
                    time: event.time,
                    what: .event(
                        .response(
                            x: 0, canonical(exchange.response ?? ResponseHead(status: 101)), .none, interim: false,
                            coding: nil, proxy: exchange.isProxys), on: carrier, exchange: exchange.number, json: nil)),
            ])
    }

    /// A body without an end in sight, or too long: head and what there is of it are written.
    mutating func beginStream(_ x: UInt32, _ event: TapeEvent) {
        let c = event.connection
        guard var exchange = connections[c]?.exchanges[x], let response = exchange.response, exchange.carrier == nil
        else { return }
        let carrier = own(c, x)
        writer.describe(carrier, connections[c]?.open ?? .init())
        exchange.carrier = carrier
        beginDecoding(&exchange)
        var isSession = false
        if case .stream = exchange.role {
            isSession = true
            forgetPolls(of: exchange.head)
        }
        fill(
            exchange.slot ?? reserve(),
            [
                requested(exchange, on: carrier, isSession: isSession),
                CanonItem(
                    time: exchange.answered,
                    what: .event(
                        .response(
                            x: 0, streamed(response, exchange), .streamed, interim: false, coding: exchange.coding,
                            proxy: exchange.isProxys), on: carrier, exchange: exchange.number, json: nil)),
            ])
        exchange.slot = nil
        connections[c]?.exchanges[x] = exchange
        flushPieces(x, event, all: false)
    }

    /// A body that is too long to stand inline keeps its length, where it would be one in pieces without.
    private mutating func streamed(_ head: ResponseHead, _ exchange: Exchange) -> ResponseHead {
        var canonical = canonical(head)
        guard !exchange.isEndless, let length = head.headers.first("Content-Length"),
            canonical.isInPieces(for: exchange.head.method)
        else { return canonical }
        let rank = canonical.headers.firstIndex { $0.name.lowercased() > "content-length" }
        canonical.headers.insert(HeaderField("Content-Length", length), at: rank ?? canonical.headers.endIndex)
        return canonical
    }

    mutating func requested(_ exchange: Exchange, on carrier: CanonCarrier, isSession: Bool) -> CanonItem {
        let payload = CanonPayload(exchange.requestBody, nil) { [names] in names.known($0) }
        let body: TapeEvent.Body = exchange.requestBody.isEmpty || payload.json != nil ? .none : .whole(payload.bytes)
        let kind = TapeEvent.Kind.request(x: 0, canonical(exchange.head, isSession: isSession), body)
        return CanonItem(
            time: exchange.time, what: .event(kind, on: carrier, exchange: exchange.number, json: payload.json))
    }

    // MARK: Whole exchanges

    mutating func answered(_ x: UInt32, _ event: TapeEvent) {
        let c = event.connection
        decodeAnswer(x, event)
        guard let exchange = connections[c]?.exchanges[x], let head = exchange.response else { return }
        if exchange.carrier != nil { return streamEnded(x, exchange, event) }
        connections[c]?.exchanges[x] = nil
        switch exchange.role {
        case .preflight: return
        case .poll(let key): polled(exchange, head, key, event)
        case .send(let key):
            let isTaken = (200..<300).contains(head.status)
            guard let slot = exchange.slot else { return }
            // A message that the server did not take has its answer as it was.
            fill(slot, isTaken ? exchange.items : refused(exchange, head, on: carrier(of: key, c)))
        case .end(let key): write(exchange, head, on: carrier(of: key, c), isSession: true, event)
        case .stream, .upgrade: write(exchange, head, on: own(c, x), isSession: true, event)
        case .ordinary(let isNegotiation):
            guard isNegotiation else { return write(exchange, head, on: carrier(ofHostOf: c), isSession: false, event) }
            negotiated(exchange, head, event)
        }
    }

    mutating func refused(_ exchange: Exchange, _ head: ResponseHead, on carrier: CanonCarrier) -> [CanonItem] {
        var items = exchange.items
        for i in items.indices {
            guard case .event(.response, _, let number, _) = items[i].what else { continue }
            items[i].what = .event(
                .response(
                    x: 0, canonical(head), exchange.responseBody.isEmpty ? .none : .whole(exchange.responseBody),
                    interim: false, coding: exchange.coding, proxy: exchange.isProxys), on: carrier, exchange: number,
                json: nil)
        }
        return items
    }

    mutating func negotiated(_ exchange: Exchange, _ head: ResponseHead, _ event: TapeEvent) {
        let opening = StreamOpening(
            request: exchange.head, response: head, requestBody: exchange.requestBody,
            responseBody: exchange.responseBody)
        var carrier = carrier(ofHostOf: event.connection)
        for entry in codecs where entry.type.kind(exchange.head) == .negotiate {
            if let credential = entry.type.redirection(opening)?.credential { _ = names.name(credential) }
            if let ids = entry.type.serverIDs(opening) {
                _ = names.name(ids.token)
                _ = names.name(ids.connectionID)
            }
            guard let name = entry.type.sessionKey(opening) else { break }
            let key = Key(codec: entry.id, key: name)
            carrier = self.carrier(of: key, event.connection)
            write(exchange, head, on: carrier, isSession: true, event)
            // A first poll has its place here: some clients make it at once with their first message.
            let slot = keys[key] == nil ? reserve() : nil
            if let slot { keys[key] = Course(opening: (slot, exchange.answered)) }
            return
        }
        write(exchange, head, on: carrier, isSession: true, event)
    }

    /// The session of that negotiation is not one of polls.
    mutating func forgetPolls(of head: RequestHead) {
        for entry in codecs {
            guard let name = entry.type.sessionKey(StreamOpening(request: head)) else { continue }
            let key = Key(codec: entry.id, key: name)
            guard let opening = keys[key]?.opening else { continue }
            keys[key]?.opening = nil
            fill(opening.slot, [])
        }
    }

    mutating func write(
        _ exchange: Exchange, _ head: ResponseHead, on carrier: CanonCarrier, isSession: Bool, _ event: TapeEvent
    ) {
        guard let slot = exchange.slot else { return }
        if case .own = carrier.kind { writer.describe(carrier, connections[event.connection]?.open ?? .init()) }
        let request = requested(exchange, on: carrier, isSession: isSession)
        var names = names
        let type = isSession ? codecs.first { $0.type.kind(exchange.head) != .other }?.type : nil
        let payload = CanonPayload(exchange.responseBody, nil, order: type?.memberOrder) {
            isSession ? names.negotiated($0) : names.known($0)
        }
        self.names = names
        var bytes = payload.bytes
        // A body that is nothing but an id.
        if isSession, payload.json == nil, let text = String(validUTF8: bytes) { bytes = Array(names.known(text).utf8) }
        // What the recorder itself said names its upstream.
        if exchange.isProxys, let text = String(validUTF8: bytes) { bytes = Array(names.withoutPorts(text).utf8) }
        let body: TapeEvent.Body = bytes.isEmpty || payload.json != nil ? .none : .whole(bytes)
        let response = TapeEvent.Kind.response(
            x: 0, canonical(head), body, interim: false, coding: exchange.coding, proxy: exchange.isProxys)
        fill(
            slot,
            [
                request,
                CanonItem(
                    time: exchange.answered,
                    what: .event(response, on: carrier, exchange: exchange.number, json: payload.json)),
            ])
    }

    mutating func streamEnded(_ x: UInt32, _ exchange: Exchange, _ event: TapeEvent) {
        flushPieces(x, event, all: true)
        connections[event.connection]?.exchanges[x] = nil
        guard let carrier = exchange.carrier else { return }
        if case .stream(let key) = exchange.role {
            keys[key]?.isEnded = true
            // Behind the client's farewell the server's end races with the client, which leaves the stream.
            if keys[key]?.clientFarewell == true { return }
        }
        let kind = TapeEvent.Kind.end(x: 0, .toClient, trailers: [])
        put([CanonItem(time: event.time, what: .event(kind, on: carrier, exchange: exchange.number, json: nil))])
    }
}
