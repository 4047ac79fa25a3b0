internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeRedaction
package import WiretapeWire

/// Takes the secrets out of events on their way to a tape. It stands where lines are made, on the writer's thread, so that
/// no secret reaches a line, a queue of lines or the disk. Events without secrets pass as they are.
///
/// Pieces of streams and of long messages may wait for the next piece, as ``Redactor`` says; what waits is written with it,
/// or before the end of its stream.
package final class TapeRedaction {
    private var redactor: Redactor
    private var streams: [Key: Stream] = [:]
    private var waiting = 0
    /// What cannot be looked at is left out.
    package let leavesOut: Bool
    private let keepsFindings: Bool
    private let tell: (String) -> Void
    private var hasTold: Set<String> = []
    /// The protocol by connection, for bytes that are neither HTTP nor frames.
    private var unreadProtocols: [UInt32: String] = [:]
    /// Connections with a CONNECT request, or with a 101 response to `h2c`.
    private var tunnels: Set<UInt32> = []

    /// What all streams together may hold back. Beyond it streams are left out: nothing is shown unseen.
    private let mostWaiting: Int

    private struct Key: Hashable {
        enum Carrier: Hashable { case body(UInt32), message, frame }

        var connection: UInt32
        var direction: Direction
        var carrier: Carrier
    }

    private struct Coded {
        var headers: [HeaderField]
        var bytes: [UInt8] = []
    }

    private struct Stream {
        var bytes: RedactedStream
        var opcode = Opcode.binary
        /// Pieces of a message that were written.
        var written = 0
        /// Of a body that is compressed: it is looked at when it is whole.
        var coded: Coded?
    }

    /// - Parameters:
    ///   - leavesOut: what cannot be looked at is left out; else it stays, for whoever does not show it.
    ///   - mostWaiting: bytes that all streams together may hold back.
    ///   - tell: gets a sentence, once each, about what could not be done as it should.
    package init(
        _ rules: RedactionRules = RedactionRules(), first: Int = 1, keepsFindings: Bool = false, leavesOut: Bool = true,
        mostWaiting: Int = 64 << 20, tell: @escaping (String) -> Void = { _ in }
    ) {
        redactor = Redactor(rules, first: first, keepsFindings: keepsFindings)
        self.leavesOut = leavesOut
        self.keepsFindings = keepsFindings
        self.mostWaiting = mostWaiting
        self.tell = tell
    }

    /// Gives pseudonyms other numbers, and nothing else: no secrets are looked for, nothing is left out.
    package init(renumbering numbers: [Int: Int], mostWaiting: Int = 64 << 20) {
        redactor = Redactor(renumbering: numbers)
        leavesOut = false
        keepsFindings = false
        self.mostWaiting = mostWaiting
        tell = { _ in }
    }

    /// Different secrets that were met.
    package var secrets: Int { redactor.secrets }

    /// Numbers of the pseudonyms that were met, where these get others.
    package var numbers: Set<Int> { redactor.numbers }

    /// What was found since the last call, when it is asked for.
    package func takeFindings() -> [SecretFinding] { redactor.takeFindings() }

    // MARK: Events

    /// Appends the event without its secrets, behind what had waited for it. One of a stream may give nothing: it waits.
    package func take(_ event: TapeEvent, into out: inout [TapeEvent]) {
        let (t, c) = (event.time, event.connection)
        switch event.kind {
        case .missing(let direction, _):
            // Nothing that waits is made whole by what comes behind it.
            flush(c, [direction], at: t, into: &out)
            out.append(event)
        case .open, .gap, .frame, .unknown: out.append(event)
        case .take, .stop:
            // The connections of what follows are others.
            flushAll(at: event.time, into: &out)
            unreadProtocols = [:]
            tunnels = []
            out.append(event)
        case .request(let x, let head, let body):
            var new = redactor.head(head)
            var mark: String?
            if head.method == "CONNECT" { tunnels.insert(c) }
            let newBody = self.body(body, head.headers, .toServer, x, c, &new.headers, &mark)
            out.append(TapeEvent(time: t, connection: c, .request(x: x, new, newBody)))
            markChangedBytes(c, at: t, into: &out)
            if let mark { out.append(TapeEvent(time: t, connection: c, .mark(mark))) }
        case .response(let x, let head, let body, let interim, let coding, let proxy):
            var new = redactor.head(head)
            var mark: String?
            // A refused CONNECT is no tunnel. Captures may have the answer after the bytes.
            if head.status >= 300 { tunnels.remove(c) }
            if head.status == 101, head.headers.hasToken("h2c", in: "Upgrade") { tunnels.insert(c) }
            let plain = coding == nil ? head.headers : head.without(coding).headers
            let newBody = self.body(body, plain, .toClient, x, c, &new.headers, &mark)
            out.append(
                TapeEvent(
                    time: t, connection: c,
                    .response(x: x, new, newBody, interim: interim, coding: coding, proxy: proxy)))
            if let mark { out.append(TapeEvent(time: t, connection: c, .mark(mark))) }
            markChangedBytes(c, at: t, into: &out)
        case .chunk(let x, let direction, let bytes): chunk(t, c, x: x, direction, bytes, into: &out)
        case .end(let x, let direction, let trailers):
            flush(Key(connection: c, direction: direction, carrier: .body(x)), at: t, into: &out)
            out.append(TapeEvent(time: t, connection: c, .end(x: x, direction, trailers: redactor.fields(trailers))))
        case .message(let direction, let opcode, let bytes, let deflated, let fragments):
            let new = message(bytes, opcode, of: c, direction, at: t, into: &out)
            out.append(
                TapeEvent(
                    time: t, connection: c,
                    .message(
                        direction, opcode, new ?? bytes, deflated: deflated, fragments: new == nil ? fragments : [])))
        case .part(let direction, let opcode, let n, let bytes, let last):
            part(t, c, direction, opcode, n: n, bytes, last: last, into: &out)
        case .ping(let direction, let bytes):
            out.append(TapeEvent(time: t, connection: c, .ping(direction, redactor.sameLength(bytes) ?? bytes)))
            markChangedBytes(c, at: t, into: &out)
        case .pong(let direction, let bytes):
            out.append(TapeEvent(time: t, connection: c, .pong(direction, redactor.sameLength(bytes) ?? bytes)))
            markChangedBytes(c, at: t, into: &out)
        case .close(let direction, let code, let reason):
            let text = reason.map { redactor.text($0) }
            out.append(TapeEvent(time: t, connection: c, .close(direction, code: code, reason: text)))
        case .gone(let party, let how, let why):
            flush(c, of: how == .fin ? party : .proxy, at: t, into: &out)
            let text = why.map { redactor.text($0) }
            out.append(TapeEvent(time: t, connection: c, .gone(by: party, how: how, why: text)))
        case .fault(let rule, let action, let reference, let delivered, let line):
            out.append(
                TapeEvent(
                    time: t, connection: c,
                    .fault(
                        rule: redactor.text(rule), action: redactor.text(action), reference: reference,
                        delivered: delivered, line: line)))
        case .mark(let text): out.append(TapeEvent(time: t, connection: c, .mark(redactor.text(text))))
        }
        tellTroubles()
    }

    /// A WebSocket message without its secrets; nil when it has none. Its frames are not those that were sent then. What waits
    /// of a message before it that never ended (its sender broke the rules) is appended first.
    func message(
        _ bytes: [UInt8], _ opcode: Opcode, of connection: UInt32, _ direction: Direction, at time: UInt64,
        into out: inout [TapeEvent]
    ) -> [UInt8]? {
        if !streams.isEmpty {
            flush(Key(connection: connection, direction: direction, carrier: .message), at: time, into: &out)
        }
        defer { markChangedBytes(connection, at: time, into: &out) }
        return redactor.payload(bytes, isBinary: opcode == .binary)
    }

    /// Binary data does not show that it was changed: a mark does.
    private func markChangedBytes(_ connection: UInt32, at time: UInt64, into out: inout [TapeEvent]) {
        let count = redactor.takeChangedBytes()
        guard count > 0, leavesOut else { return }
        let text =
            "connection \(connection): redaction changed \(count) place\(count == 1 ? "" : "s") in binary data, which keeps its length"
        out.append(TapeEvent(time: time, connection: connection, .mark(text)))
    }

    private func body(
        _ body: TapeEvent.Body, _ headers: [HeaderField], _ direction: Direction, _ x: UInt32, _ connection: UInt32,
        _ new: inout [HeaderField], _ mark: inout String?
    ) -> TapeEvent.Body {
        switch body {
        case .none: return .none
        case .whole(let bytes):
            switch redactor.body(bytes, headers) {
            case .unchanged: return body
            case .changed(let plain): return .whole(plain)
            case .decoded(let plain):
                new = new.without(nil)
                return .whole(plain)
            case .unreadable:
                mark = unseen(direction, x, connection, headers)
                return leavesOut ? .none : body
            }
        case .streamed:
            let media = MediaType(headers.first("Content-Type") ?? "")
            let type = media.name
            let isBinary = type.isEmpty || type == "application/octet-stream" || type.hasSuffix("msgpack")
            let hasEnd = direction == .toServer || isCounted(headers)
            var stream = Stream(
                bytes: RedactedStream(
                    isBinary: isBinary && hasEnd, mayBeFramed: isBinary && !hasEnd,
                    keepsPieces: direction == .toClient && !TapeRedaction.tellsMessages(type), mayHaveLengths: true,
                    boundary: type.hasPrefix("multipart/") ? media["boundary"] ?? "-" : nil))
            if !headers.contentCodings.isEmpty {
                // The recorder has removed what it can: this is a request's body, or one in an unknown coding.
                if leavesOut || keepsFindings {
                    stream.coded = Coded(headers: headers)
                } else {
                    if redactor.isRenumbering { stream.bytes.passOn() }
                    mark = unseen(direction, x, connection, headers)
                }
            }
            streams[Key(connection: connection, direction: direction, carrier: .body(x))] = stream
            return .streamed
        }
    }

    /// Whether a body of that type tells where its messages end.
    private static func tellsMessages(_ type: String) -> Bool {
        type.hasPrefix("multipart/") || type == "text/event-stream" || type.contains("json") || type.contains("xml")
            || type.contains("javascript")
    }

    /// Whether the body has an end that is known: then it can wait for it.
    private func isCounted(_ headers: [HeaderField]) -> Bool { headers.first("Content-Length") != nil }

    /// Tells of a body that could not be looked at. Returns the mark for the tape.
    private func unseen(
        _ direction: Direction, _ x: UInt32, _ connection: UInt32, _ headers: [HeaderField]
    ) -> String? {
        let whose = direction == .toServer ? "request" : "answer"
        let what =
            "the \(whose)'s body (\(headers.contentCodings.text)) could not be looked at for secrets, or has some"
        let text = "connection \(connection) exchange \(x): \(what)\(leavesOut ? " and is left out" : "")"
        say(text)
        return leavesOut ? text : nil
    }

    // MARK: Pieces

    func chunk(
        _ time: UInt64, _ connection: UInt32, x: UInt32, _ direction: Direction, _ bytes: [UInt8],
        into out: inout [TapeEvent]
    ) {
        let key = Key(connection: connection, direction: direction, carrier: .body(x))
        if tunnels.contains(connection), isUnread(bytes) {
            let what = sayUnread(connection, direction, bytes)
            if leavesOut {
                let text =
                    "\(bytes.count) bytes of \(what) on connection \(connection) left out: they cannot be searched for secrets"
                return out.append(TapeEvent(time: time, connection: connection, .mark(text)))
            }
        }
        let new = piece(bytes, of: key, isBinary: false)
        if !new.isEmpty { out.append(TapeEvent(time: time, connection: connection, .chunk(x: x, direction, new))) }
        markChangedBytes(connection, at: time, into: &out)
        tellTroubles()
    }

    /// From here on the body cannot be decoded: the bytes that come are left out.
    package func leaveOut(_ connection: UInt32, x: UInt32, _ direction: Direction) {
        let key = Key(connection: connection, direction: direction, carrier: .body(x))
        streams[key, default: Stream(bytes: RedactedStream(isBinary: false))].bytes.withhold()
        say(
            "connection \(connection) exchange \(x): the rest of a body could not be decoded, nor looked at for secrets, and is "
                + "left out")
    }

    func part(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ opcode: Opcode, n: Int, _ bytes: [UInt8],
        last: Bool, into out: inout [TapeEvent]
    ) {
        let key = Key(connection: connection, direction: direction, carrier: .message)
        if n == 0 { flush(key, at: time, into: &out) }
        var stream = streams[key] ?? Stream(bytes: redactor.stream(of: opcode), opcode: opcode)
        let before = stream.bytes.waiting
        let new: [UInt8]
        if last {
            new = redactor.last(bytes, of: &stream.bytes)
        } else {
            if waiting + bytes.count > mostWaiting { withholdForWant(of: &stream.bytes) }
            new = redactor.piece(bytes, of: &stream.bytes)
        }
        waiting += stream.bytes.waiting - before
        write(new, of: &stream, time, connection, direction, last: last, into: &out)
        markChangedBytes(connection, at: time, into: &out)
        streams[key] = last ? nil : stream
        tellTroubles()
    }

    /// In pieces that a line may hold.
    private func write(
        _ bytes: [UInt8], of stream: inout Stream, _ time: UInt64, _ connection: UInt32, _ direction: Direction,
        last: Bool, into out: inout [TapeEvent]
    ) {
        var at = 0
        while at < bytes.count || last {
            let end = min(bytes.count, at + TapeLines.partSize)
            let isLast = last && end == bytes.count
            out.append(
                TapeEvent(
                    time: time, connection: connection,
                    .part(direction, stream.opcode, n: stream.written, Array(bytes[at..<end]), last: isLast)))
            stream.written += 1
            at = end
            if isLast { return }
        }
    }

    /// A piece of a frame that fits no message. Compressed ones cannot be looked at.
    package func frame(_ connection: UInt32, _ direction: Direction, head: UInt8, _ bytes: [UInt8], why: inout String)
        -> [UInt8]
    {
        guard head & 0x40 == 0 || !leavesOut else {
            why += "; its bytes are compressed, could not be looked at for secrets and are left out"
            return []
        }
        return piece(bytes, of: Key(connection: connection, direction: direction, carrier: .frame), isBinary: false)
    }

    /// Redacts bytes that are neither HTTP nor frames. If ``leavesOut`` is set, it drops bytes that are no text, and says so in `why`.
    package func malformed(_ connection: UInt32, _ direction: Direction, _ bytes: [UInt8], why: inout String) -> [UInt8]
    {
        guard isUnread(bytes) else { return lines(bytes) }
        let what = sayUnread(connection, direction, bytes)
        guard leavesOut else { return lines(bytes) }
        why +=
            "; \(bytes.count) byte\(bytes.count == 1 ? "" : "s") of \(what) left out: they cannot be searched for secrets"
        return []
    }

    /// Bytes whose lines may be those of a head.
    package func lines(_ bytes: [UInt8]) -> [UInt8] { redactor.rawLines(bytes) ?? bytes }

    private func isUnread(_ bytes: [UInt8]) -> Bool { !redactor.isRenumbering && !UnreadBytes.isText(bytes) }

    /// - Returns: the name of the protocol.
    private func sayUnread(_ connection: UInt32, _ direction: Direction, _ bytes: [UInt8]) -> String {
        let known = unreadProtocols[connection]
        let name = known ?? UnreadBytes.name(bytes) ?? "an unknown protocol"
        if known == nil, unreadProtocols.count < 4_096 { unreadProtocols[connection] = name }
        let whose = direction == .toServer ? "client" : "server"
        say(
            "connection \(connection): the \(whose) sends \(name), which cannot be searched for secrets"
                + (leavesOut ? " and is left out" : ""))
        return name
    }

    /// A text for people without secrets.
    package func text(_ text: String) -> String { redactor.text(text) }

    private func piece(_ bytes: [UInt8], of key: Key, isBinary: Bool) -> [UInt8] {
        var stream = streams[key] ?? Stream(bytes: RedactedStream(isBinary: isBinary))
        if stream.coded != nil {
            streams[key] = nil
            stream.coded?.bytes += bytes
            waiting += bytes.count
            if waiting > mostWaiting || (stream.coded?.bytes.count ?? 0) > Redactor.longestUnit {
                waiting -= stream.coded?.bytes.count ?? 0
                stream.coded = nil
                withholdForWant(of: &stream.bytes)
            }
            streams[key] = stream
            return []
        }
        let before = stream.bytes.waiting
        if waiting + bytes.count > mostWaiting { withholdForWant(of: &stream.bytes) }
        let new = redactor.piece(bytes, of: &stream.bytes)
        waiting += stream.bytes.waiting - before
        streams[key] = stream
        return new
    }

    private func withholdForWant(of stream: inout RedactedStream) {
        guard !redactor.isRenumbering else { return stream.countBytes() }
        stream.withhold()
        say(
            "more than \(mostWaiting >> 20) MiB of streams wait to be looked at for secrets: parts are left out"
        )
    }

    // MARK: Ends

    /// What the streams of a connection still hold is written. `party` proxy: of both directions.
    private func flush(
        _ connection: UInt32, of party: TapeEvent.Party, at time: UInt64, into out: inout [TapeEvent]
    ) {
        switch party {
        case .client: flush(connection, [.toServer], at: time, into: &out)
        case .server: flush(connection, [.toClient], at: time, into: &out)
        case .proxy: flush(connection, [.toServer, .toClient], at: time, into: &out)
        }
    }

    private func flush(_ connection: UInt32, _ gone: [Direction], at time: UInt64, into out: inout [TapeEvent]) {
        guard !streams.isEmpty else { return }
        let keys = streams.keys.filter { $0.connection == connection && gone.contains($0.direction) }
        for key in keys.sorted(by: TapeRedaction.isBefore) { flush(key, at: time, into: &out) }
    }

    /// The tape ends.
    package func flushAll(at time: UInt64, into out: inout [TapeEvent]) {
        for key in streams.keys.sorted(by: TapeRedaction.isBefore) { flush(key, at: time, into: &out) }
        tellTroubles()
    }

    private static func isBefore(_ a: Key, _ b: Key) -> Bool {
        func order(_ key: Key) -> (UInt32, UInt32, Int) {
            let x: UInt32 = if case .body(let x) = key.carrier { x } else { 0 }
            return (key.connection, x, key.direction == .toServer ? 0 : 1)
        }
        return order(a) < order(b)
    }

    private func flush(_ key: Key, at time: UInt64, into out: inout [TapeEvent]) {
        guard var stream = streams.removeValue(forKey: key) else { return }
        waiting -= stream.bytes.waiting
        if let coded = stream.coded, case .body(let x) = key.carrier {
            return flush(coded, key.connection, x, key.direction, at: time, into: &out)
        }
        let rest = redactor.last([], of: &stream.bytes)
        guard !rest.isEmpty else { return }
        switch key.carrier {
        case .body(let x):
            out.append(TapeEvent(time: time, connection: key.connection, .chunk(x: x, key.direction, rest)))
        case .message: write(rest, of: &stream, time, key.connection, key.direction, last: false, into: &out)
        case .frame: break
        }
    }

    /// A compressed body is whole. Its head is on the tape and says that it is compressed: one with secrets cannot stay.
    private func flush(
        _ coded: Coded, _ connection: UInt32, _ x: UInt32, _ direction: Direction, at time: UInt64,
        into out: inout [TapeEvent]
    ) {
        waiting -= coded.bytes.count
        guard !coded.bytes.isEmpty else { return }
        var isSeen = false
        switch redactor.body(coded.bytes, coded.headers) {
        case .unchanged: isSeen = true
        case .changed, .decoded: isSeen = !leavesOut
        case .unreadable: break
        }
        if isSeen || !leavesOut {
            out.append(TapeEvent(time: time, connection: connection, .chunk(x: x, direction, coded.bytes)))
        }
        if !isSeen, let mark = unseen(direction, x, connection, coded.headers) {
            out.append(TapeEvent(time: time, connection: connection, .mark(mark)))
        }
    }

    // MARK: Telling

    private func tellTroubles() {
        for trouble in redactor.takeTroubles() {
            switch trouble {
            case .unnumbered:
                say(
                    "there are more secrets than pseudonyms: all further secrets are written as td_0, and are not found elsewhere"
                )
            case .withheld: say("something could not be looked at for secrets\(leavesOut ? " and is left out" : "")")
            }
        }
    }

    private func say(_ sentence: String) {
        guard hasTold.count < 1_000, hasTold.insert(sentence).inserted else { return }
        tell(sentence)
    }
}
