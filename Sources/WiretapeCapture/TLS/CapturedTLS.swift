internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// The TLS of a captured connection, opened with the secrets of a key log. What each record held goes on as if it had been said in the
/// clear, at the time at which the record was whole.
///
/// Every record proves that it was opened with the right key and number, so behind missing bytes reading goes on with the first record
/// that does.
final class CapturedTLS {
    /// Records that may be missing at a time.
    private static let reach: UInt64 = 512
    /// Bytes of handshake messages, and of records before the server's first word, that are kept.
    private static let mostKept = 1 << 20

    private let keys: KeyLog
    private let content: CapturedContent
    private var client = TLSWay()
    private var server = TLSWay()
    private var clientHello: TLSHello?
    private var serverHello: TLSHello?
    private var suite: TLSSuite?
    private var early = TLSEarlyData()
    /// Why its content is not on the tape, or not all of it; nil: it is.
    private var reason: CaptureClosed.Reason? = .noKeys(sni: nil)
    /// Directions that end early, since the secrets do not open them.
    private var sealed: Set<Direction> = []

    init(_ keys: KeyLog, _ content: CapturedContent) {
        self.keys = keys
        self.content = content
    }

    private var isNew: Bool { serverHello?.version == 0x0304 }

    private var hasKeys: Bool { if case .noKeys? = reason { false } else { true } }

    private func change<R>(_ direction: Direction, _ body: (inout TLSWay) -> R) -> R {
        switch direction {
        case .toServer: body(&client)
        case .toClient: body(&server)
        }
    }

    private func way(_ direction: Direction) -> TLSWay {
        switch direction {
        case .toServer: client
        case .toClient: server
        }
    }

    // MARK: Bytes

    func received(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {
        guard !way(direction).isOver else { return }
        change(direction) { $0.flow.append(bytes) }
        while !way(direction).isOver {
            let isLost = way(direction).flow.isLost
            switch change(direction, { $0.flow.next() }) {
            case .more: return
            case .bad: return lose(direction, "what it says is no TLS", at: time)
            case .record(let record):
                if isLost {
                    found(record, direction, at: time)
                } else {
                    change(direction) { $0.flow.take(record) }
                    take(record, direction, at: time)
                }
            }
        }
    }

    /// Behind missing bytes: it is a record if it opens.
    private func found(_ record: TLSRecordFlow.Record, _ direction: Direction, at time: UInt64) {
        guard let opened = change(direction, { $0.open(record, reach: CapturedTLS.reach) }) else {
            return change(direction) { way in
                way.flow.refuse()
                way.hasSealed = true
            }
        }
        change(direction) { way in
            way.flow.take(record)
            if way.hasContent { way.hasSealed = false }
        }
        inside(opened, direction, at: time)
    }

    func missed(_ count: UInt64?, _ direction: Direction, at time: UInt64) {
        guard !way(direction).isOver else { return }
        // Without both of them nothing can be opened.
        guard serverHello != nil, clientHello != nil else {
            return fail("the beginning of its handshake is missing", at: time)
        }
        change(direction) { way in
            way.flow.miss()
            way.handshake = []
            (way.owesGap, way.isBehindGap) = (true, true)
            // The word that protection begins may be among them.
            if !isNew { way.isProtected = true }
        }
        if !isNew { arm(direction) }
    }

    func ended(_ direction: Direction, isReset: Bool, at time: UInt64) {
        settle(direction, at: time)
        content.ended(direction, isReset: isReset, at: time)
    }

    func finished(at time: UInt64) {
        settle(.toServer, at: time)
        settle(.toClient, at: time)
        content.finished(at: time, sealed: reason)
    }

    // MARK: What cannot be read

    /// Nothing more of the connection is read.
    private func fail(_ why: String, at time: UInt64) {
        let isSilent = content.isUntouched
        for direction in Direction.allCases {
            guard !way(direction).isOver else { continue }
            change(direction) { $0.isOver = true }
            if !isSilent { content.missed(nil, direction, at: time) }
        }
        // That it is closed is what can be said of it.
        if !hasKeys, serverHello != nil, suite != nil { return }
        reason = .tls(why)
    }

    /// Nothing more of this direction is read; the other one may go on.
    private func lose(_ direction: Direction, _ why: String, at time: UInt64) {
        guard hasKeys else { return fail(why, at: time) }
        change(direction) { way in
            way.isOver = true
            (way.owesGap, way.hasSealed) = (false, false)
        }
        if direction == .toServer { early.forget() }
        reason = .tls(why)
        content.missed(nil, direction, at: time)
    }

    /// The secrets of the key log do not open what comes in this direction.
    private func loseSealed(_ direction: Direction, at time: UInt64) {
        sealed.insert(direction)
        let who = sealed.count == 2 ? "both sides say" : direction == .toServer ? "its client says" : "its server says"
        lose(direction, "what \(who) does not open with the secrets of the key log", at: time)
    }

    /// A gap that is owed stands before what follows.
    private func tellGap(_ direction: Direction, at time: UInt64) {
        guard way(direction).owesGap else { return }
        change(direction) { $0.owesGap = false }
        content.missed(nil, direction, at: time)
    }

    /// Nothing more of this direction comes: what it could not be read of is told.
    private func settle(_ direction: Direction, at time: UInt64) {
        let way = way(direction)
        guard hasKeys, !way.isOver else { return }
        if way.hasSealed { return loseSealed(direction, at: time) }
        if way.endsInContent || direction == .toServer && early.isMissing(sealed: false) {
            change(direction) { $0.owesGap = true }
            early.forget()
        }
        tellGap(direction, at: time)
    }

    // MARK: Records

    private func take(_ record: TLSRecordFlow.Record, _ direction: Direction, at time: UInt64) {
        let isProtected =
            isNew || serverHello == nil ? record.kind == TLSRecordFlow.protected : way(direction).isProtected
        if isProtected { return open(record, direction, at: time) }
        switch record.kind {
        case 20:
            guard !isNew, serverHello != nil else { return }
            change(direction) { $0.isProtected = true }
            arm(direction)
        case 22: handshake(record.body, direction, at: time)
        default: break
        }
    }

    private func open(_ record: TLSRecordFlow.Record, _ direction: Direction, at time: UInt64) {
        if serverHello == nil {
            // Early data: how it is protected is told by the server.
            change(direction) { $0.wait(record, at: time) }
            if way(direction).waitingCount > CapturedTLS.mostKept {
                fail("too much is said before the server's first word", at: time)
            }
            return
        }
        if let opened = change(direction, { $0.open(record, reach: 0) }) { return inside(opened, direction, at: time) }
        guard hasKeys else { return fail("its secrets are not in the key log", at: time) }
        if isNew, !way(direction).hasContent {
            change(direction) { $0.hasSealed = true }
        } else {
            loseSealed(direction, at: time)
        }
    }

    /// What was in a protected record.
    private func inside(_ opened: TLSWay.Opened, _ direction: Direction, at time: UInt64) {
        if opened.phase == .content { reachedContent(direction, at: time) }
        switch opened.kind {
        case 22: handshake(opened.content, direction, at: time)
        case 20: if !isNew { arm(direction) }
        case 23:
            guard opened.phase == .early else { return tell(opened.content, direction, at: time) }
            guard let taken = early.take(opened.content, at: time) else {
                return lose(direction, "more early data than is read", at: time)
            }
            for (bytes, time) in taken { tell(bytes, direction, at: time) }
        default: break
        }
    }

    /// The handshake of this direction is over. What did not open before was a part of it, or early data.
    private func reachedContent(_ direction: Direction, at time: UInt64) {
        guard !way(direction).hasContent else { return }
        let isMissing = direction == .toServer && early.isMissing(sealed: client.hasSealed)
        if isMissing { early.forget() }
        change(direction) { way in
            way.hasContent = true
            way.hasSealed = false
            if isMissing { way.owesGap = true }
        }
    }

    /// Content goes on, behind what is missing before it.
    private func tell(_ bytes: [UInt8], _ direction: Direction, at time: UInt64) {
        if direction == .toClient { tellMissingRequests(at: time) }
        tellGap(direction, at: time)
        change(direction) { $0.isBehindGap = false }
        if !bytes.isEmpty { content.received(bytes.span, direction, at: time) }
    }

    /// The server answers. What it answers stands before it, and so does a gap in that; where nothing was heard of the client, what did
    /// not open was its request. Servers of HTTP/2 speak without being asked.
    private func tellMissingRequests(at time: UInt64) {
        guard serverHello?.alpn != "h2" else { return }
        let isUnheard = content.isEmpty(.toServer)
        if isUnheard, client.hasSealed, !client.owesGap, !early.isOffered { return loseSealed(.toServer, at: time) }
        if isUnheard, client.hasSealed || early.isMissing(sealed: false) {
            early.forget()
            change(.toServer) { way in
                way.hasSealed = false
                way.owesGap = true
            }
        }
        tellGap(.toServer, at: time)
    }

    // MARK: Handshake

    private func handshake(_ bytes: [UInt8], _ direction: Direction, at time: UInt64) {
        // Behind a gap only a message that fills its record is believed.
        if way(direction).isBehindGap, bytes.count != 5 || bytes.first != 24 { return }
        var all = change(direction) { way in
            way.handshake += bytes
            return way.handshake
        }
        var at = 0
        while all.count - at >= 4 {
            let count = Int(all[at + 1]) << 16 | Int(all[at + 2]) << 8 | Int(all[at + 3])
            guard all.count - at - 4 >= count else { break }
            message(all[at], Array(all[at + 4..<at + 4 + count]), direction, at: time)
            at += 4 + count
        }
        all.removeFirst(at)
        if all.count > CapturedTLS.mostKept {
            return lose(direction, "a message of its handshake is longer than is read", at: time)
        }
        change(direction) { $0.handshake = all }
    }

    private func message(_ kind: UInt8, _ body: [UInt8], _ direction: Direction, at time: UInt64) {
        switch (kind, direction) {
        case (1, .toServer):
            guard let hello = TLSHello(body.span, isClient: true) else {
                return fail("its first message is not understood", at: time)
            }
            clientHello = hello
            early.isOffered = hello.offersEarly
            if case .noKeys? = reason { reason = .noKeys(sni: hello.sni) }
        case (2, .toClient): answered(body, at: time)
        case (8, .toClient):
            // EncryptedExtensions.
            var reader = TLSFields(body.span)
            let extensions = reader.counted(2) ?? []
            var inner = TLSFields(extensions.span)
            var takesEarly = false
            while let number = inner.number(2), let value = inner.counted(2) {
                if number == 16 { serverHello?.alpn = TLSHello.alpn(value) }
                if number == 42 { takesEarly = true }
            }
            tellInfo()
            decideEarly(takesEarly, at: time)
        case (20, _):
            // Finished.
            if isNew { reachedContent(direction, at: time) }
        case (24, _):
            // KeyUpdate: the next record of this direction has the next key.
            change(direction) { $0.update() }
        default: break
        }
    }

    /// The server has said whether it takes early data.
    private func decideEarly(_ isTaken: Bool, at time: UInt64) {
        for (bytes, time) in early.decide(isTaken) { tell(bytes, .toServer, at: time) }
    }

    private func answered(_ body: [UInt8], at time: UInt64) {
        guard let hello = TLSHello(body.span, isClient: false) else {
            return fail("the server's answer is not understood", at: time)
        }
        guard !hello.isRetry else { return }
        guard clientHello != nil else { return fail("the client's first message is missing", at: time) }
        serverHello = hello
        guard hello.version == 0x0303 || hello.version == 0x0304 else {
            return fail("it is older than TLS 1.2, and only 1.2 and 1.3 are read", at: time)
        }
        suite = TLSSuite(hello.suite, isNew: isNew)
        guard suite != nil else {
            return fail("its cipher suite 0x\(String(hello.suite, radix: 16)) is not read", at: time)
        }
        tellInfo()
        if isNew { armNew() }
        for (record, time) in client.takeWaiting() where !client.isOver { take(record, .toServer, at: time) }
    }

    private func tellInfo() {
        guard let serverHello else { return }
        content.tls = TapeEvent.TLSInfo(
            version: serverHello.version == 0x0304 ? "TLSv1.3" : "TLSv1.2", alpn: serverHello.alpn,
            sni: clientHello?.sni)
    }

    /// TLS 1.3: the keys of both directions, of as many phases as the key log has secrets of.
    private func armNew() {
        guard let random = clientHello?.random, let suite else { return }
        func keys(_ labels: [(TLSWay.Phase, String)]) -> [TLSWay.Key] {
            labels.compactMap { phase, label in
                self.keys.secret(label, random).flatMap { TLSOpener(suite, secret: $0) }
                    .map { TLSWay.Key(phase: phase, opener: $0) }
            }
        }
        client.keys = keys([
            (.early, "CLIENT_EARLY_TRAFFIC_SECRET"), (.handshake, "CLIENT_HANDSHAKE_TRAFFIC_SECRET"),
            (.content, "CLIENT_TRAFFIC_SECRET_0"),
        ])
        server.keys = keys([
            (.handshake, "SERVER_HANDSHAKE_TRAFFIC_SECRET"), (.content, "SERVER_TRAFFIC_SECRET_0"),
        ])
        if !early.isOffered { client.keys.removeAll { $0.phase == .early } }
        let hasContent = (client.keys + server.keys).contains { $0.phase == .content }
        if hasContent { reason = nil } else { (client.keys, server.keys) = ([], []) }
    }

    /// TLS 1.2: the keys of one direction, from the master secret.
    private func arm(_ direction: Direction) {
        guard let clientHello, let serverHello, let suite else { return }
        let randoms = serverHello.random + clientHello.random
        // Keys that are in use know how many records they have opened.
        guard way(direction).armedFor != randoms, let master = keys.secret("CLIENT_RANDOM", clientHello.random),
            let opener = TLSOpener(
                suite, master: master, randoms: randoms, isClient: direction == .toServer,
                isFirst: serverHello.encryptsThenProves)
        else { return }
        if !hasKeys { reason = nil }
        change(direction) { way in
            way.keys = [TLSWay.Key(phase: .content, opener: opener)]
            way.armedFor = randoms
        }
    }
}
