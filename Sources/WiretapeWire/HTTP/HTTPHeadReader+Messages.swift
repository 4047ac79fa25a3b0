extension HTTPHeadReader {
    /// A request head with what it says about its body (RFC 9112 sections 3 and 6.3).
    package mutating func request() throws(HTTPFault) -> (RequestHead, HTTPHeadInfo) {
        guard let line = line() else { throw HTTPFault(400, "not an HTTP request") }
        let (method, target, version) = try requestLine(line)
        var facts = HTTPFramingFacts()
        let fields = try fields(&facts)
        let framing = try facts.requestFraming(version: version)
        guard facts.hosts <= 1 else { throw HTTPFault(400, "several Host fields") }
        guard facts.hosts == 1 || version == "1.0" else { throw HTTPFault(400, "no Host field") }
        if mixesLineEnds || sawBareLF && framing != .none {
            throw HTTPFault(400, "bare LF in the head")
        }
        let head = RequestHead(method: method, target: target, version: version, headers: fields)
        let info = HTTPHeadInfo(
            raw: raw, framing: framing, keepAlive: facts.keepAlive(version: version),
            upgradeProtocol: facts.upgradeProtocol, expectsContinue: facts.expectsContinue && version == "1.1")
        return (head, info)
    }

    /// A response head; `method` is that of its request.
    package mutating func response(
        to method: HTTPScanner.ExpectedMethod
    ) throws(HTTPFault) -> (ResponseHead, HTTPHeadInfo) {
        guard let line = line() else { throw HTTPFault(502, "not an HTTP/1.1 response") }
        let (version, status, reason) = try statusLine(line)
        var facts = HTTPFramingFacts()
        let fields = try fields(&facts)
        let isBodiless =
            status < 200 || status == 204 || status == 304 || method == .head
            || method == .connect && status / 100 == 2
        let told = try facts.responseFraming()
        let framing = isBodiless ? .none : told
        let head = ResponseHead(status: status, reason: reason, version: version, headers: fields)
        let isFaulty = version == "1.0" && facts.hasTransferEncoding
        let info = HTTPHeadInfo(
            raw: raw, framing: framing,
            keepAlive: facts.keepAlive(version: version) && framing != .untilEnd && !isFaulty,
            upgradeProtocol: facts.upgradeProtocol, isInterim: status < 200 && status != 101)
        return (head, info)
    }

    private func requestLine(
        _ line: Range<Int>
    ) throws(HTTPFault) -> (method: String, target: String, version: String) {
        let bytes = raw.span
        var at = line.lowerBound
        while at < line.upperBound, Self.isToken(bytes[at]) { at += 1 }
        let method = line.lowerBound..<at
        guard !method.isEmpty, at < line.upperBound, bytes[at] == 0x20 else {
            throw HTTPFault(400, "invalid method")
        }
        guard method.count <= 64 else { throw HTTPFault(501, "method over 64 bytes") }
        at += 1
        let start = at
        while at < line.upperBound, bytes[at] > 0x20, bytes[at] != 0x7f { at += 1 }
        guard at > start, at < line.upperBound, bytes[at] == 0x20 else {
            throw HTTPFault(400, "invalid request target or no version")
        }
        return (try text(method), try text(start..<at), try version(at + 1..<line.upperBound))
    }

    /// The reason and the blank before it may be missing.
    private func statusLine(
        _ line: Range<Int>
    ) throws(HTTPFault) -> (version: String, status: Int, reason: String) {
        let bytes = raw.span
        var at = line.lowerBound
        while at < line.upperBound, bytes[at] != 0x20 { at += 1 }
        let version = try version(line.lowerBound..<at)
        guard line.upperBound - at >= 4 else { throw HTTPFault(502, "invalid status line") }
        var status = 0
        for i in at + 1..<at + 4 {
            guard let digit = hexDigit(bytes[i]), digit < 10 else { throw HTTPFault(502, "invalid status") }
            status = status * 10 + Int(digit)
        }
        at += 4
        guard status >= 100, at == line.upperBound || bytes[at] == 0x20 else {
            throw HTTPFault(502, "invalid status")
        }
        return (version, status, try text(min(at + 1, line.upperBound)..<line.upperBound))
    }

    private func version(_ range: Range<Int>) throws(HTTPFault) -> String {
        let bytes = raw.span
        guard range.count >= 6, try text(range.lowerBound..<range.lowerBound + 5) == "HTTP/" else {
            throw HTTPFault(400, "no HTTP version")
        }
        let digits = range.lowerBound + 5..<range.upperBound
        switch try text(digits) {
        case "1.1": return "1.1"
        case "1.0": return "1.0"
        default:
            for i in digits where hexDigit(bytes[i]).map({ $0 < 10 }) != true && bytes[i] != UInt8(ascii: ".") {
                throw HTTPFault(400, "invalid HTTP version")
            }
            throw HTTPFault(505, "HTTP/\(try text(digits)) is not spoken here: HTTP/1.1 is")
        }
    }
}
