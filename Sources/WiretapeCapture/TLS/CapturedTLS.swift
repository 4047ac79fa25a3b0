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
    /// Bytes of early data and of handshake messages that are kept.
    private static let mostKept = 1 << 20

    /// One direction.
    private struct Way {
        var flow = TLSRecordFlow()
        /// The keys in the order of their use; the first is in use.
        var openers: [TLSOpener] = []
        /// A handshake message that is not whole.
        var handshake: [UInt8] = []
        /// Records that came before it was known how to open them.
        var waiting: [(TLSRecordFlow.Record, UInt64)] = []
        var waitingCount = 0
        /// Content is missing, which has not been told yet.
        var owesGap = false
        /// Records of TLS 1.2 are protected from here on.
        var isProtected = false
    }

    private let keys: KeyLog
    private let content: CapturedContent
    private var client = Way()
    private var server = Way()
    private var clientHello: TLSHello?
    private var serverHello: TLSHello?
    private var suite: TLSSuite?
    /// Data that the client sent before the server had agreed.
    private var early: [([UInt8], UInt64)] = []
    private var earlyCount = 0
    private var mayHaveEarly = false
    /// Why its content is not on the tape, or not all of it; nil: it is.
    private(set) var reason: CaptureClosed.Reason? = .noKeys(sni: nil)
    private var isOver = false

    init(_ keys: KeyLog, _ content: CapturedContent) {
        self.keys = keys
        self.content = content
    }

    private var isNew: Bool { serverHello?.version == 0x0304 }

    private func change<R>(_ direction: Direction, _ body: (inout Way) -> R) -> R {
        switch direction {
        case .toServer: body(&client)
        case .toClient: body(&server)
        }
    }

    // MARK: Bytes

    func received(_ bytes: Span<UInt8>, _ direction: Direction, at time: UInt64) {
        guard !isOver else { return }
        change(direction) { $0.flow.append(bytes) }
        while !isOver {
            let isLost = change(direction) { $0.flow.isLost }
            switch change(direction, { $0.flow.next() }) {
            case .more: return
            case .bad: return fail("what it says is no TLS")
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
        guard let opened = open(record, direction, reach: CapturedTLS.reach) else {
            return change(direction) { $0.flow.refuse() }
        }
        change(direction) { $0.flow.take(record) }
        inside(opened.kind, opened.content, direction, at: time)
    }

    private func fail(_ why: String) {
        isOver = true
        if case .noKeys? = reason, serverHello != nil, suite != nil { return }
        reason = .tls(why)
    }

    func missed(_ count: UInt64?, _ direction: Direction, at time: UInt64) {
        guard !isOver else { return }
        // Without both of them nothing can be opened.
        guard serverHello != nil, clientHello != nil else { return fail("the beginning of its handshake is missing") }
        change(direction) { way in
            way.flow.miss()
            way.handshake = []
            way.owesGap = true
            // The word that protection begins may be among them.
            if !isNew { way.isProtected = true }
        }
        if !isNew { arm(direction) }
    }

    /// Whether nothing was said in it.
    var isSilent: Bool { content.isUntouched }

    func ended(_ direction: Direction, isReset: Bool, at time: UInt64) {
        tellGap(direction, at: time)
        content.ended(direction, isReset: isReset, at: time)
    }

    func finished(at time: UInt64) {
        tellGap(.toServer, at: time)
        tellGap(.toClient, at: time)
        content.finished(at: time)
    }

    // MARK: Records

    private func take(_ record: TLSRecordFlow.Record, _ direction: Direction, at time: UInt64) {
        let isProtected = change(direction) { $0.isProtected }
        if isNew || serverHello == nil ? record.kind == 23 : isProtected { return sealed(record, direction, at: time) }
        switch record.kind {
        case 20:
            guard !isNew, serverHello != nil else { return }
            change(direction) { $0.isProtected = true }
            arm(direction)
        case 22: handshake(record.body, direction, at: time)
        default: break
        }
    }

    private func sealed(_ record: TLSRecordFlow.Record, _ direction: Direction, at time: UInt64) {
        if serverHello == nil {
            // Early data: how it is protected is told by the server.
            let isTooMuch = change(direction) { way in
                way.waiting.append((record, time))
                way.waitingCount += record.body.count
                return way.waitingCount > CapturedTLS.mostKept
            }
            if isTooMuch { fail("too much is said before the server's first word") }
            return
        }
        if let opened = open(record, direction, reach: 0) {
            return inside(opened.kind, opened.content, direction, at: time)
        }
        if case .noKeys? = reason {
            isOver = true
        } else if isNew, content.isEmpty(direction) {
            // A part of the handshake whose secret is not in the log, or early data that the server refused.
        } else {
            fail("a record does not open with the secrets of the key log")
            content.missed(nil, direction, at: time)
        }
    }

    /// Opens a record with the key in use, or with one of those that may follow it.
    private func open(_ record: TLSRecordFlow.Record, _ direction: Direction, reach: UInt64)
        -> (kind: UInt8, content: [UInt8])?
    {
        change(direction) { way in
            for i in way.openers.indices {
                guard let opened = way.openers[i].open(record.head, record.body.span, reach: reach) else { continue }
                way.openers.removeFirst(i)
                return opened
            }
            // The word of a key update may be missing.
            guard way.owesGap, var next = way.openers.last?.updated,
                let opened = next.open(record.head, record.body.span, reach: reach)
            else { return nil }
            way.openers = [next]
            return opened
        }
    }

    /// What was in a protected record.
    private func inside(_ kind: UInt8, _ bytes: [UInt8], _ direction: Direction, at time: UInt64) {
        switch kind {
        case 22: handshake(bytes, direction, at: time)
        case 20: if !isNew { arm(direction) }
        case 23:
            let isEarly = direction == .toServer && mayHaveEarly && client.openers.count > earlyRest
            if isEarly { return keep(bytes, at: time) }
            tellGap(direction, at: time)
            if !bytes.isEmpty { content.received(bytes.span, direction, at: time) }
        default: break
        }
    }

    private func tellGap(_ direction: Direction, at time: UInt64) {
        guard change(direction, { $0.owesGap }) else { return }
        change(direction) { $0.owesGap = false }
        content.missed(nil, direction, at: time)
    }

    // MARK: Early data

    /// Keys of the client that follow the one for early data.
    private var earlyRest: Int {
        guard let random = clientHello?.random else { return 0 }
        return (keys.secret("CLIENT_HANDSHAKE_TRAFFIC_SECRET", random) == nil ? 0 : 1) + 1
    }

    private func keep(_ bytes: [UInt8], at time: UInt64) {
        earlyCount += bytes.count
        if earlyCount > CapturedTLS.mostKept { return fail("more early data than is read") }
        early.append((bytes, time))
    }

    /// The server has said whether it takes early data.
    private func decideEarly(_ isTaken: Bool) {
        let all = early
        early = []
        guard isTaken else { return }
        for (bytes, time) in all { content.received(bytes.span, .toServer, at: time) }
    }

    // MARK: Handshake

    private func handshake(_ bytes: [UInt8], _ direction: Direction, at time: UInt64) {
        // Behind a gap only a message that fills its record is believed.
        if change(direction, { $0.owesGap }), bytes.count != 5 || bytes.first != 24 { return }
        var all = change(direction) { way in
            way.handshake += bytes
            return way.handshake
        }
        var at = 0
        while all.count - at >= 4 {
            let count = Int(all[at + 1]) << 16 | Int(all[at + 2]) << 8 | Int(all[at + 3])
            guard all.count - at - 4 >= count else { break }
            message(all[at], Array(all[at + 4..<at + 4 + count]), direction)
            at += 4 + count
        }
        all.removeFirst(at)
        if all.count > CapturedTLS.mostKept { return fail("a message of its handshake is longer than is read") }
        change(direction) { $0.handshake = all }
    }

    private func message(_ kind: UInt8, _ body: [UInt8], _ direction: Direction) {
        switch (kind, direction) {
        case (1, .toServer):
            guard let hello = TLSHello(body.span, isClient: true) else {
                return fail("its first message is not understood")
            }
            clientHello = hello
            if case .noKeys? = reason { reason = .noKeys(sni: hello.sni) }
        case (2, .toClient): answered(body)
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
            decideEarly(takesEarly)
        case (24, _):
            // KeyUpdate: the next record of this direction has the next key.
            change(direction) { way in
                if let next = way.openers.last?.updated { way.openers = [next] }
            }
        default: break
        }
    }

    private func answered(_ body: [UInt8]) {
        guard let hello = TLSHello(body.span, isClient: false) else {
            return fail("the server's answer is not understood")
        }
        guard !hello.isRetry else { return }
        guard clientHello != nil else { return fail("the client's first message is missing") }
        serverHello = hello
        guard hello.version == 0x0303 || hello.version == 0x0304 else {
            return fail("it is older than TLS 1.2, and only 1.2 and 1.3 are read")
        }
        suite = TLSSuite(hello.suite, isNew: isNew)
        guard suite != nil else {
            return fail("its cipher suite 0x\(String(hello.suite, radix: 16)) is not read")
        }
        tellInfo()
        if isNew { armNew() }
        let waiting = client.waiting
        client.waiting = []
        for (record, time) in waiting { take(record, .toServer, at: time) }
    }

    private func tellInfo() {
        guard let serverHello else { return }
        content.tls = TapeEvent.TLSInfo(
            version: serverHello.version == 0x0304 ? "TLSv1.3" : "TLSv1.2", alpn: serverHello.alpn,
            sni: clientHello?.sni)
    }

    /// TLS 1.3: the secrets of both directions.
    private func armNew() {
        guard let random = clientHello?.random, let suite else { return }
        func opener(_ label: String) -> TLSOpener? {
            keys.secret(label, random).flatMap { TLSOpener(suite, secret: $0) }
        }
        guard let fromClient = opener("CLIENT_TRAFFIC_SECRET_0"), let fromServer = opener("SERVER_TRAFFIC_SECRET_0")
        else {
            return
        }
        let early = opener("CLIENT_EARLY_TRAFFIC_SECRET")
        mayHaveEarly = early != nil
        client.openers = [early, opener("CLIENT_HANDSHAKE_TRAFFIC_SECRET"), fromClient].compactMap { $0 }
        server.openers = [opener("SERVER_HANDSHAKE_TRAFFIC_SECRET"), fromServer].compactMap { $0 }
        reason = nil
    }

    /// TLS 1.2: the keys of one direction, from the master secret.
    private func arm(_ direction: Direction) {
        guard let clientHello, let serverHello, let suite,
            let master = keys.secret("CLIENT_RANDOM", clientHello.random),
            let opener = TLSOpener(
                suite, master: master, randoms: serverHello.random + clientHello.random,
                isClient: direction == .toServer, isFirst: serverHello.encryptsThenProves)
        else { return }
        reason = nil
        change(direction) { $0.openers = [opener] }
    }
}
