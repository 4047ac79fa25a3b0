internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeWire

extension TapeLines {
    /// The line of any event.
    package static func append(_ event: TapeEvent, into out: inout [UInt8]) {
        let (t, c) = (event.time, event.connection)
        switch event.kind {
        case .open(let open):
            start(t, c, #","e":"open""#, &out)
            self.open(open, &out)
        case .request(let x, let head, let body):
            start(t, c, #","e":"request""#, &out)
            request(x, head, body, &out)
        case .response(let x, let head, let body, let interim, let coding, let proxy):
            start(t, c, #","e":"response""#, &out)
            response(x, head, body, &out)
            if interim { out.append(literal: #","interim":true"#) }
            if let coding { field("coding", coding, &out) }
            if proxy { out.append(literal: #","by":"proxy""#) }
        case .chunk(let x, let d, let bytes): return chunk(t, c, x: x, d, bytes.span, into: &out)
        case .end(let x, let d, let trailers):
            start(t, c, #","e":"end""#, &out)
            field("x", UInt64(x), &out)
            direction(d, &out)
            if !trailers.isEmpty { headers("trailers", trailers, &out) }
        case .message(let d, let opcode, let bytes, let deflated, let fragments):
            return message(t, c, d, opcode, bytes.span, deflated: deflated, fragments: fragments, into: &out)
        case .part(let d, let opcode, let n, let bytes, let last):
            return part(t, c, d, opcode, n: n, bytes.span, last: last, into: &out)
        case .ping(let d, let bytes): return ping(t, c, d, bytes.span, into: &out)
        case .pong(let d, let bytes): return ping(t, c, d, bytes.span, isPong: true, into: &out)
        case .close(let d, let code, let reason):
            start(t, c, #","e":"close""#, &out)
            direction(d, &out)
            if let code { field("code", UInt64(code), &out) }
            if let reason { field("reason", reason, &out) }
        case .gone(let by, let how, let why):
            start(t, c, #","e":"gone""#, &out)
            field("by", by.rawValue, &out)
            field("how", how.rawValue, &out)
            if let why { field("why", why, &out) }
        case .fault(let rule, let action, let reference, let delivered, let line):
            start(t, c, #","e":"fault""#, &out)
            field("rule", rule, &out)
            field("action", action, &out)
            if let reference { field("ref", reference, &out) }
            if let delivered { field("delivered", delivered, &out) }
            if let line { field("line", line, &out) }
        case .frame, .mark, .take, .gap, .missing, .stop, .unknown: note(event, &out)
        }
        end(&out)
    }

    /// The kinds that belong to the tape rather than to a connection.
    private static func note(_ event: TapeEvent, _ out: inout [UInt8]) {
        let (t, c) = (event.time, event.connection)
        switch event.kind {
        case .mark(let text):
            start(t, c, #","e":"mark""#, &out)
            field("text", text, &out)
        case .take(let started):
            start(t, c, #","e":"take""#, &out)
            field("started", started, &out)
        case .gap(let lost):
            start(t, c, #","e":"gap""#, &out)
            field("lost", lost, &out)
        case .missing(let way, let bytes):
            start(t, c, #","e":"gap""#, &out)
            direction(way, &out)
            // What readers before this kind of gap want to see.
            field("lost", 1, &out)
            if let bytes { field("bytes", bytes, &out) }
        case .stop(let events, let connections, let level):
            start(t, c, #","e":"stop""#, &out)
            field("events", events, &out)
            field("connections", connections, &out)
            if let level { field("level", UInt64(max(0, level)), &out) }
        case .frame(let way):
            start(t, c, #","e":"frame""#, &out)
            direction(way, &out)
        case .unknown(let kind):
            start(t, c, "", &out)
            field("e", kind, &out)
        case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .gone, .fault: break
        }
    }

    /// The first line of a tape.
    package static func appendHeader(_ header: TapeHeader, into out: inout [UInt8]) {
        out.append(literal: #"{"tape":"#)
        out.append(decimal: UInt64(max(0, header.version)))
        if let started = header.started { field("started", started, &out) }
        if let tool = header.tool { field("tool", tool, &out) }
        if let mode = header.mode { field("mode", mode, &out) }
        if !header.upstreams.isEmpty {
            out.append(literal: #","upstreams":{"#)
            for (i, upstream) in header.upstreams.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                JSONEscape.appendString(upstream.name, into: &out)
                out.append(UInt8(ascii: ":"))
                JSONEscape.appendString(upstream.url, into: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
        if let redaction = header.redaction { field("redaction", redaction, &out) }
        if let protocolID = header.protocolID { field("protocol", protocolID, &out) }
        if let route = header.route { field("route", route, &out) }
        end(&out)
    }

    private static func open(_ open: TapeEvent.Open, _ out: inout [UInt8]) {
        if let from = open.from { field("from", from, &out) }
        if let to = open.to { field("to", to, &out) }
        if let upstream = open.upstream { field("upstream", upstream, &out) }
        if let tls = open.tls {
            out.append(literal: #","tls":{"#)
            var fields: [UInt8] = []
            if let version = tls.version { field("version", version, &fields) }
            if let alpn = tls.alpn { field("alpn", alpn, &fields) }
            if let sni = tls.sni { field("sni", sni, &fields) }
            if let client = tls.client { field("client", client, &fields) }
            out.append(contentsOf: fields.dropFirst())
            out.append(UInt8(ascii: "}"))
        }
        if let session = open.session { field("session", session, &out) }
    }

    private static func request(_ x: UInt32, _ head: RequestHead, _ body: TapeEvent.Body, _ out: inout [UInt8]) {
        field("x", UInt64(x), &out)
        field("method", head.method, &out)
        field("target", head.target, &out)
        headers("headers", head.headers, &out)
        self.body(body, &out)
        if head.version != "1.1" { field("version", head.version, &out) }
    }

    private static func response(_ x: UInt32, _ head: ResponseHead, _ body: TapeEvent.Body, _ out: inout [UInt8]) {
        field("x", UInt64(x), &out)
        field("status", UInt64(max(0, head.status)), &out)
        headers("headers", head.headers, &out)
        self.body(body, &out)
        if head.version != "1.1" { field("version", head.version, &out) }
        if !head.reason.isEmpty { field("reason", head.reason, &out) }
    }

    private static func body(_ body: TapeEvent.Body, _ out: inout [UInt8]) {
        switch body {
        case .none: break
        case .whole(let content): bytes(content.span, &out)
        case .streamed: out.append(literal: #","stream":true"#)
        }
    }

    private static func headers(_ name: StaticString, _ fields: [HeaderField], _ out: inout [UInt8]) {
        out.append(UInt8(ascii: ","))
        out.append(UInt8(ascii: "\""))
        out.append(literal: name)
        out.append(literal: #"":["#)
        for (i, field) in fields.enumerated() {
            out.append(UInt8(ascii: i > 0 ? "," : "["))
            if i > 0 { out.append(UInt8(ascii: "[")) }
            JSONEscape.appendString(field.name, into: &out)
            out.append(UInt8(ascii: ","))
            JSONEscape.appendString(field.value, into: &out)
            out.append(UInt8(ascii: "]"))
        }
        out.append(UInt8(ascii: "]"))
    }
}
