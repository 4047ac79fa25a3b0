internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// Reads the stubs of two stub servers as ordinary exchanges: pairs of a Hoverfly simulation (schema v5 and v5.x) and WireMock's
/// mappings. Only what names one request can be one on a tape: a pattern is no request, and is told by name.
struct StubEntry {
    struct Fault: Error {
        var reason: String
    }

    private let source: any ForeignSource
    private let memory: Int
    /// Stubs have no times: each stands at this one.
    private let time: UInt64

    init(_ source: any ForeignSource, memory: Int, time: UInt64) {
        self.source = source
        self.memory = memory
        self.time = time
    }

    // MARK: Hoverfly

    func hoverfly(_ pair: JSONValue) throws -> ForeignExchange {
        guard let request = pair["request"], let response = pair["response"] else {
            throw Fault(reason: "it has no request or no response")
        }
        /// The value of the one exact matcher of a field; a plain text in schema v1.
        func exact(_ name: String, or usual: String?) throws -> String {
            guard let field = request[name] else {
                guard let usual else { throw ForeignSkip(reason: "a stub for any \(name)") }
                return usual
            }
            if let text = field.string { return text }
            guard let matchers = field.array, !matchers.isEmpty else {
                guard let usual else { throw ForeignSkip(reason: "a stub for any \(name)") }
                return usual
            }
            guard matchers.count == 1, matchers[0]["matcher"]?.string ?? "exact" == "exact",
                let text = matchers[0]["value"]?.string
            else { throw ForeignSkip(reason: "a stub whose \(name) is a pattern") }
            return text
        }
        let scheme = try exact("scheme", or: "http")
        let host = try exact("destination", or: nil)
        guard let url = ForeignURL("\(scheme)://\(host)/") else { throw Fault(reason: "its destination is no host") }
        var target = try exact("path", or: nil)
        if !target.hasPrefix("/") { target = "/" + target }
        var items: [String] = []
        for member in request["query"]?.members ?? [] {
            for value in member.value.array ?? [] {
                guard value["matcher"]?.string ?? "exact" == "exact", let text = value["value"]?.string else {
                    throw ForeignSkip(reason: "a stub whose query is a pattern")
                }
                for one in text.split(separator: ";", omittingEmptySubsequences: false) {
                    items.append("\(HAREntry.formEncoded(member.name))=\(HAREntry.formEncoded(String(one)))")
                }
            }
        }
        if let old = request["deprecatedQuery"]?.array?.first?["value"]?.string, !old.isEmpty { items.append(old) }
        if !items.isEmpty { target += "?" + items.joined(separator: "&") }
        var exchange = ForeignExchange(
            server: url.server,
            request: RequestHead(
                method: ForeignText.line(try exact("method", or: "GET")), target: ForeignText.line(target)),
            requestTime: time)
        exchange.request.headers = [HeaderField("Host", url.host)] + matchedFields(request["headers"])
        if let bodies = request["body"]?.array, let body = bodies.first, bodies.count == 1 {
            guard ["exact", "json", "xml"].contains(body["matcher"]?.string ?? "exact"),
                let text = body["value"]?.string
            else {
                throw ForeignSkip(reason: "a stub whose body is a pattern")
            }
            exchange.requestBody = Array(text.utf8)
        }
        let status = response["status"]?.int ?? 200
        guard (100...999).contains(status) else { throw Fault(reason: "its status is \(status)") }
        if response["templated"]?.bool == true { throw ForeignSkip(reason: "a stub whose answer is a template") }
        exchange.response = ResponseHead(status: status, headers: listedFields(response["headers"]))
        try answer(
            response, isBase64: response["encodedBody"]?.bool == true, file: response["bodyFile"]?.string, &exchange)
        let delay = ForeignTime.nanoseconds(milliseconds: response["fixedDelay"]?.double)
        exchange.responseTime = ForeignTime.sum(time, delay)
        exchange.endTime = exchange.responseTime
        return exchange
    }

    private func matchedFields(_ value: JSONValue?) -> [HeaderField] {
        (value?.members ?? []).flatMap { member in
            (member.value.array ?? []).compactMap { matcher in
                guard matcher["matcher"]?.string ?? "exact" == "exact",
                    let text = matcher["value"]?.string ?? matcher.string
                else { return nil }
                return HeaderField(member.name, ForeignText.line(text))
            }
        }.filter { !equalIgnoringCase($0.name, "Host") && StubEntry.isName($0.name) }
    }

    // MARK: WireMock

    func wiremock(_ mapping: JSONValue) throws -> ForeignExchange {
        guard let request = mapping["request"], let response = mapping["response"] else {
            throw Fault(reason: "it has no request or no response")
        }
        var target: String
        if let url = request["url"]?.string ?? request["urlPath"]?.string {
            target = url.hasPrefix("/") ? url : "/" + url
        } else {
            throw ForeignSkip(reason: "a stub whose URL is a pattern")
        }
        var items: [String] = []
        for member in request["queryParameters"]?.members ?? [] {
            guard let text = member.value["equalTo"]?.string else {
                throw ForeignSkip(reason: "a stub whose query is a pattern")
            }
            items.append("\(HAREntry.formEncoded(member.name))=\(HAREntry.formEncoded(text))")
        }
        if !items.isEmpty { target += (target.contains("?") ? "&" : "?") + items.joined(separator: "&") }
        var method = request["method"]?.string ?? "GET"
        if method == "ANY" { method = "GET" }
        let host = request["host"]?["equalTo"]?.string ?? "localhost"
        let port = request["port"]?.int ?? (request["scheme"]?.string == "https" ? 443 : 80)
        guard let url = ForeignURL("\(request["scheme"]?.string ?? "http")://\(host):\(port)/") else {
            throw Fault(reason: "its host is none")
        }
        var exchange = ForeignExchange(
            server: url.server,
            request: RequestHead(method: ForeignText.line(method), target: ForeignText.line(target)), requestTime: time)
        exchange.request.headers = [HeaderField("Host", host)]
        for member in request["headers"]?.members ?? [] where !equalIgnoringCase(member.name, "Host") {
            guard let text = member.value["equalTo"]?.string, StubEntry.isName(member.name) else { continue }
            exchange.request.headers.append(HeaderField(member.name, ForeignText.line(text)))
        }
        if let patterns = request["bodyPatterns"]?.array, !patterns.isEmpty {
            guard patterns.count == 1, let pattern = patterns.first,
                let body = pattern["equalTo"]?.string ?? pattern["equalToJson"].map({ $0.string ?? $0.text })
            else { throw ForeignSkip(reason: "a stub whose body is a pattern") }
            exchange.requestBody = Array(body.utf8)
        }
        if response["fault"] != nil {
            throw ForeignSkip(reason: "a stub that answers with a fault; a rule of wiretape does that")
        }
        if response["proxyBaseUrl"] != nil { throw ForeignSkip(reason: "a stub that asks another server") }
        if (response["transformers"]?.array ?? []).contains(where: { $0.string == "response-template" }) {
            throw ForeignSkip(reason: "a stub whose answer is a template")
        }
        let status = response["status"]?.int ?? 200
        guard (100...999).contains(status) else { throw Fault(reason: "its status is \(status)") }
        exchange.response = ResponseHead(
            status: status, reason: ForeignText.line(response["statusMessage"]?.string ?? ""),
            headers: listedFields(response["headers"]))
        try answer(response, isBase64: false, file: response["bodyFileName"]?.string.map { "__files/" + $0 }, &exchange)
        let delay = ForeignTime.nanoseconds(milliseconds: response["fixedDelayMilliseconds"]?.double)
        exchange.responseTime = ForeignTime.sum(time, delay)
        exchange.endTime = exchange.responseTime
        return exchange
    }

    // MARK: Both

    /// Names with one value or several.
    private func listedFields(_ value: JSONValue?) -> [HeaderField] {
        (value?.members ?? []).flatMap { member in
            (member.value.array ?? [member.value]).compactMap { item in
                item.string.map { HeaderField(member.name, ForeignText.line($0)) }
            }
        }.filter { StubEntry.isName($0.name) }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x3a }
    }

    private func answer(
        _ response: JSONValue, isBase64: Bool, file: String?, _ exchange: inout ForeignExchange
    ) throws {
        var body: [UInt8] = []
        if let text = response["body"]?.string {
            body = Array(text.utf8)
            if isBase64 {
                guard let bytes = Base64.decode(body.span) else { throw Fault(reason: "its body is no base64") }
                body = bytes
            }
        } else if let json = response["jsonBody"] {
            body = Array(json.text.utf8)
        } else if let text = response["base64Body"]?.string {
            guard let bytes = Base64.decode(Array(text.utf8).span) else { throw Fault(reason: "its body is no base64") }
            body = bytes
        } else if let file {
            guard let bytes = try source.side(file, limit: memory) else {
                throw Fault(reason: "the file \(file) is not there")
            }
            body = bytes
        }
        // A body that says to be encoded is kept as it came where it cannot be decoded.
        if let head = exchange.response, !head.headers.contentCodings.isEmpty, !body.isEmpty {
            let codings = head.headers.contentCodings
            if codings.names.count == 1,
                let plain = try? ContentDecoder.whole(body, codings, limit: max(16 << 20, body.count))
            {
                body = plain
                exchange.coding = codings.text
            }
        }
        let type = MediaType(exchange.response?.headers.first("Content-Type") ?? "")
        guard type.isStream else { return exchange.answer = .whole(body) }
        exchange.answer = .pieces(HAREntry.events(body).map { (time, $0) })
    }
}
