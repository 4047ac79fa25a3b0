internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeWire

/// Reads one entry of an HTTP archive (HAR 1.2) with what browsers and proxies add to it: WebSocket messages, events of event
/// streams, side files. What the entry does not tell is noted, and not made up.
struct HAREntry {
    /// A sentence about the entry: where and what.
    struct Fault: Error {
        var reason: String
    }

    private let entry: JSONValue
    private let source: any ForeignSource
    private let memory: Int
    private var exchange: ForeignExchange

    /// - Parameter memory: bytes that a side file may have.
    static func read(
        _ entry: JSONValue, from source: any ForeignSource, memory: Int
    ) throws -> ForeignExchange {
        var reader = try HAREntry(entry, source, memory)
        try reader.read()
        return reader.exchange
    }

    private init(_ entry: JSONValue, _ source: any ForeignSource, _ memory: Int) throws {
        self.entry = entry
        self.source = source
        self.memory = memory
        guard let request = entry["request"], case .object = request else { throw Fault(reason: "it has no request") }
        guard let text = request["url"]?.string else { throw Fault(reason: "it has no request.url") }
        guard let url = ForeignURL(text) else {
            throw ForeignSkip(reason: "an entry whose URL is not of http, https, ws or wss")
        }
        guard let started = entry["startedDateTime"]?.string, let start = HARTime.nanoseconds(started) else {
            throw Fault(reason: "startedDateTime is no time such as 2026-11-21T02:47:22.123Z")
        }
        let timings = entry["timings"]
        // What happens before the first byte is sent. A connect time has that of TLS in it.
        var sent = start
        for name in ["blocked", "dns", "connect"] {
            sent = ForeignTime.sum(sent, ForeignTime.nanoseconds(milliseconds: timings?[name]?.double))
        }
        // No later than the entry as a whole allows.
        if let whole = ForeignTime.nanoseconds(milliseconds: entry["time"]?.double) {
            sent = min(sent, ForeignTime.sum(start, whole))
        }
        let method = request["method"]?.string ?? "GET"
        exchange = ForeignExchange(
            server: url.server,
            request: RequestHead(method: ForeignText.line(method), target: ForeignText.line(url.target)),
            requestTime: sent)
        exchange.request.headers = HAREntry.fields(request["headers"])
        if exchange.request.headers.first("Host") == nil {
            exchange.request.headers.insert(HeaderField("Host", ForeignText.line(url.host)), at: 0)
        }
        exchange.connection = entry["connection"]?.string
        if let version = request["httpVersion"]?.string, HAREntry.isNewer(version) {
            exchange.remarks.append(HARNotes.newerHTTP)
        }
        isSocket =
            entry["_webSocketMessages"] != nil || url.isWebSocket || entry["_resourceType"]?.string == "websocket"
    }

    private let isSocket: Bool

    /// Whether the text names HTTP/2 or 3: `h2`, `HTTP/2.0`, `h3`.
    private static func isNewer(_ version: String) -> Bool {
        let version = version.lowercased()
        return version.hasPrefix("h2") || version.hasPrefix("h3") || version.hasPrefix("http/2")
            || version.hasPrefix("http/3")
    }

    private mutating func read() throws {
        let timings = entry["timings"]
        try readRequestBody()
        let response = entry["response"]
        let status = response?["status"]?.int ?? 0
        let wait = ForeignTime.nanoseconds(milliseconds: timings?["wait"]?.double)
        let receive = ForeignTime.nanoseconds(milliseconds: timings?["receive"]?.double)
        let sent = ForeignTime.sum(
            exchange.requestTime, ForeignTime.nanoseconds(milliseconds: timings?["send"]?.double))
        if wait == nil, status > 0, !isSocket { exchange.notes.append(HARNotes.noTimes) }
        exchange.responseTime = ForeignTime.sum(sent, wait)
        guard status > 0 || isSocket else {
            let why = entry["response"]?["_error"]?.string ?? entry["response"]?["_failureText"]?.string
            exchange.notes.append(why.map { "\(HARNotes.noAnswer): \(ForeignText.line($0))" } ?? HARNotes.noAnswer)
            return
        }
        // A socket that was let in may have any number below those of refusals, or none: it becomes 101.
        guard (100...999).contains(status) || isSocket && status < 300 else {
            throw Fault(reason: "response.status is \(status)")
        }
        var head = ResponseHead(
            status: status, reason: ForeignText.line(response?["statusText"]?.string ?? ""),
            headers: HAREntry.fields(response?["headers"]))
        if isSocket, status < 300 {
            try readSocket(&head)
            exchange.response = head
            return
        }
        exchange.endTime = receive.map { ForeignTime.sum(exchange.responseTime, $0) }
        try readAnswer(&head)
        exchange.response = head
    }

    /// Names of HTTP/2 that begin with a colon are no fields.
    private static func fields(_ value: JSONValue?) -> [HeaderField] {
        var fields: [HeaderField] = []
        for item in value?.array ?? [] {
            let pair = item.array
            guard let name = pair?.first?.string ?? item["name"]?.string,
                let text = (pair?.count == 2 ? pair?.last?.string : nil) ?? item["value"]?.string,
                !name.isEmpty, !name.hasPrefix(":"), name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x3a })
            else { continue }
            let lines = ForeignText.lines(text)
            for line in lines.isEmpty ? [""] : lines { fields.append(HeaderField(name, line)) }
        }
        return fields
    }

    // MARK: Bodies

    private mutating func readRequestBody() throws {
        guard let data = entry["request"]?["postData"], case .object = data else {
            if let size = entry["request"]?["bodySize"]?.int, size > 0 { exchange.notes.append(HARNotes.noRequestBody) }
            return
        }
        if let body = try HAREntry.body(data, source, memory) { return exchange.requestBody = body }
        let type = MediaType(data["mimeType"]?.string ?? exchange.request.headers.first("Content-Type") ?? "")
        if let parts = data["params"]?.array, !parts.isEmpty, type.name == "application/x-www-form-urlencoded" {
            let items = parts.map { part in
                HAREntry.formEncoded(part["name"]?.string ?? "") + "="
                    + HAREntry.formEncoded(part["value"]?.string ?? "")
            }
            return exchange.requestBody = Array(items.joined(separator: "&").utf8)
        }
        if let size = entry["request"]?["bodySize"]?.int, size != 0 { exchange.notes.append(HARNotes.noRequestBody) }
    }

    static func formEncoded(_ text: String) -> String {
        var out: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"):
                out.append(byte)
            case 0x20: out.append(UInt8(ascii: "+"))
            default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The bytes of `text`, or of the side file; nil where there is neither.
    private static func body(
        _ value: JSONValue, _ source: any ForeignSource, _ memory: Int
    ) throws -> [UInt8]? {
        if let name = value["_file"]?.string {
            guard let bytes = try source.side(name, limit: memory) else {
                throw Fault(reason: "the file \(name) that it names is not there")
            }
            return bytes
        }
        guard let text = value["text"]?.string else { return nil }
        guard value["encoding"]?.string == "base64" || value["_encoding"]?.string == "base64" else {
            return text.isEmpty ? nil : Array(text.utf8)
        }
        guard let bytes = Base64.decode(Array(text.utf8).span) else { throw Fault(reason: "a body is no base64") }
        return bytes
    }

    /// The bytes that a text was: in ISO 8859-1 where the type says so, and where it is no type of text: mitmproxy writes such a
    /// body with a character a byte. UTF-8 else.
    private static func bytes(of text: String, _ type: MediaType) -> [UInt8] {
        let charset = type["charset"]?.lowercased() ?? ""
        let isLatin = ["iso-8859-1", "latin1", "us-ascii"].contains(charset)
        let isBinary =
            charset.isEmpty
            && (type.name == "application/octet-stream"
                || ["image/", "audio/", "video/", "font/"].contains { type.name.hasPrefix($0) }
                    && !type.name.hasSuffix("+xml"))
        guard isLatin || isBinary, text.unicodeScalars.allSatisfy({ $0.value <= 0xff }) else { return Array(text.utf8) }
        return text.unicodeScalars.map { UInt8($0.value) }
    }

    private mutating func readAnswer(_ head: inout ResponseHead) throws {
        let content = entry["response"]?["content"] ?? .object([])
        var body = try HAREntry.body(content, source, memory)
        if content["encoding"] == nil, let text = content["text"]?.string, !text.isEmpty {
            body = HAREntry.bytes(
                of: text, MediaType(head.headers.first("Content-Type") ?? content["mimeType"]?.string ?? ""))
        }
        let codings = head.headers.contentCodings
        if !codings.isEmpty {
            if body == nil || codings.names.count > 1 {
                head.headers = head.headers.without(nil)
            } else {
                exchange.coding = codings.text
            }
        }
        let type = MediaType(head.headers.first("Content-Type") ?? content["mimeType"]?.string ?? "")
        if head.headers.first("Content-Type") == nil, let mime = content["mimeType"]?.string, !mime.isEmpty,
            mime != "x-unknown", body != nil
        {
            head.headers.append(HeaderField("Content-Type", ForeignText.line(mime)))
        }
        if type.name == "text/event-stream" { return readEvents(body ?? []) }
        if body == nil {
            let size = content["size"]?.int ?? 0
            let length = head.headers.first("Content-Length").flatMap { Int($0) } ?? 0
            let isBare = exchange.request.method == "HEAD" || head.status == 204 || head.status == 304
            if !isBare, size > 0 || size < 0 && length > 0 { exchange.notes.append(HARNotes.noBody) }
            body = []
        }
        if exchange.endTime == nil {
            exchange.endTime = exchange.responseTime
            if !exchange.notes.contains(HARNotes.noTimes) { exchange.notes.append(HARNotes.noTimes) }
        }
        guard type.isStream else { return exchange.answer = body.map { .whole($0) } ?? .none }
        exchange.notes.append(HARNotes.noPieces)
        exchange.answer = .pieces([(exchange.endTime ?? exchange.responseTime, body ?? [])])
    }

    // MARK: Event streams

    /// Cuts the stream behind each event. Chrome tells when each came; else all came at the head, which holds no client back.
    private mutating func readEvents(_ body: [UInt8]) {
        if exchange.endTime == nil { exchange.notes.append(HARNotes.noStreamEnd) }
        var pieces = HAREntry.events(body)
        let told = entry["_eventSourceMessages"]?.array ?? []
        if pieces.isEmpty, !told.isEmpty {
            pieces = told.map { HAREntry.event($0) }
        }
        let times = told.map { message in
            HARTime.message(message["time"]?.double, near: exchange.requestTime)
        }
        let carries = pieces.map { HAREntry.hasData($0) }
        let isTold = !times.isEmpty && carries.count(where: { $0 }) == times.count && times.allSatisfy { $0 != nil }
        if !isTold, !pieces.isEmpty { exchange.notes.append(HARNotes.noEventTimes) }
        var last = exchange.responseTime
        var next = 0
        exchange.answer = .pieces(
            zip(pieces, carries).map { piece, carries in
                if isTold, carries {
                    last = max(last, times[next] ?? last)
                    next += 1
                }
                return (last, piece)
            })
    }

    /// The text of an event that Chrome tells.
    private static func event(_ message: JSONValue) -> [UInt8] {
        var text = ""
        if let name = message["eventName"]?.string, !name.isEmpty, name != "message" { text += "event: \(name)\n" }
        if let id = message["eventId"]?.string, !id.isEmpty { text += "id: \(id)\n" }
        for line in (message["data"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
            text += "data: \(line)\n"
        }
        return Array((text + "\n").utf8)
    }

    /// The pieces of a stream, each with the empty line that ends it.
    static func events(_ body: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        var i = 0
        var isLineEmpty = true
        while i < body.count {
            let byte = body[i]
            i += 1
            guard byte == 0x0a || byte == 0x0d else {
                isLineEmpty = false
                continue
            }
            if byte == 0x0d, i < body.count, body[i] == 0x0a { i += 1 }
            if isLineEmpty, i > start {
                pieces.append(Array(body[start..<i]))
                start = i
            }
            isLineEmpty = true
        }
        if start < body.count { pieces.append(Array(body[start...])) }
        return pieces
    }

    private static func hasData(_ piece: [UInt8]) -> Bool {
        piece.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).contains { $0.starts(with: Array("data".utf8)) }
    }

    // MARK: WebSockets

    private mutating func readSocket(_ head: inout ResponseHead) throws {
        // That messages were said proves the upgrade, however the entry spells it (HTTP/2's CONNECT, no answer at all).
        if exchange.request.method == "CONNECT" { exchange.request.method = "GET" }
        if head.status != 101 { head = ResponseHead(status: 101, reason: "Switching Protocols", headers: head.headers) }
        for side in [false, true] {
            var headers = side ? head.headers : exchange.request.headers
            if !headers.hasToken("websocket", in: "Upgrade") { headers.append(HeaderField("Upgrade", "websocket")) }
            if !headers.hasToken("upgrade", in: "Connection") { headers.append(HeaderField("Connection", "Upgrade")) }
            if side { head.headers = headers } else { exchange.request.headers = headers }
        }
        exchange.notes.append(HARNotes.noClose)
        exchange.said = []
        var last = exchange.responseTime
        for message in try messages() {
            guard let kind = try kind(of: message) else { continue }
            if let time = HARTime.message(message["time"]?.double, near: exchange.requestTime) {
                last = max(last, time)
            } else if !exchange.notes.contains(HARNotes.noMessageTimes) {
                exchange.notes.append(HARNotes.noMessageTimes)
            }
            exchange.said?.append((last, kind))
        }
    }

    /// In the entry, or a line each in a side file.
    private func messages() throws -> [JSONValue] {
        if let messages = entry["_webSocketMessages"]?.array { return messages }
        guard let name = entry["response"]?["content"]?["_file"]?.string else { return [] }
        guard let bytes = try source.side(name, limit: memory) else {
            throw Fault(reason: "the file \(name) with its messages is not there")
        }
        var messages: [JSONValue] = []
        for line in bytes.split(separator: 0x0a) {
            do throws(JSONError) {
                messages.append(try JSONValue(parsing: Array(line)))
            } catch {
                throw Fault(reason: "\(name), message \(messages.count + 1): \(error.reason)")
            }
        }
        return messages
    }

    private mutating func kind(of message: JSONValue) throws(Fault) -> TapeEvent.Kind? {
        let direction: Direction
        switch message["type"]?.string {
        case "send"?, "request"?: direction = .toServer
        case "receive"?, "response"?: direction = .toClient
        case "error"?:
            exchange.notes.append(
                "the archive tells an error of this WebSocket: \(ForeignText.line(message["data"]?.string ?? ""))")
            return nil
        default: throw Fault(reason: "a WebSocket message that is neither sent nor received")
        }
        let data = message["data"]?.string ?? ""
        switch message["opcode"]?.int ?? 1 {
        case 0, 1: return .message(direction, .text, Array(data.utf8), deflated: false, fragments: [])
        case 2:
            guard let bytes = Base64.decode(Array(data.utf8).span) else {
                throw Fault(reason: "a binary WebSocket message is no base64")
            }
            return .message(direction, .binary, bytes, deflated: false, fragments: [])
        case 8:
            exchange.notes.removeAll { $0 == HARNotes.noClose }
            let code = message["code"]?.int.flatMap { UInt16(exactly: $0) }
            return .close(direction, code: code, reason: message["reason"]?.string)
        case 9: return .ping(direction, Array(data.utf8))
        case 10: return .pong(direction, Array(data.utf8))
        default:
            exchange.notes.append("the archive has a WebSocket frame of an unknown kind, which is left out")
            return nil
        }
    }
}

extension JSONValue {
    /// Any number.
    var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }
}

/// What archives leave out, in sentences.
enum HARNotes {
    static let newerHTTP = "it was said over HTTP/2 or 3, and is on the tape as HTTP/1.1 has it"
    static let noAnswer = "the archive has no answer to this request"
    static let noRequestBody = "the archive does not hold the request's body"
    static let noBody = "the archive does not hold the answer's body"
    static let noTimes = "the archive does not tell when the answer came"
    static let noPieces = "the archive does not tell in which pieces, and when, the body came"
    static let noEventTimes = "the archive does not tell when each event came: they stand at the answer's head"
    static let noStreamEnd = "the archive does not tell whether and how the event stream ended"
    static let noClose = "the archive does not tell how the WebSocket was closed, nor its pings, pongs and frames"
    static let noMessageTimes = "the archive does not tell when the WebSocket's messages were said"
}

enum HARTime {
    /// Nanoseconds since 1970 of ISO 8601 as archives have it, also without a zone's colon.
    static func nanoseconds(_ text: String) -> UInt64? { SystemClock.nanoseconds(rfc3339: text) }

    /// The time of a message: seconds since 1970 (Chrome, mitmproxy) or milliseconds (Playwright), whichever is nearer to the
    /// request's. Nil for -1 and the like.
    static func message(_ number: Double?, near time: UInt64) -> UInt64? {
        guard let number, number > 0, number < 1e15 else { return nil }
        let near = Double(time)
        let isSeconds = abs(number * 1e9 - near) <= abs(number * 1e6 - near)
        // A number of so many digits is true to the microsecond.
        let microseconds = (isSeconds ? number * 1e6 : number * 1e3).rounded()
        return microseconds < 9.2e15 ? UInt64(microseconds) * 1_000 : nil
    }
}
