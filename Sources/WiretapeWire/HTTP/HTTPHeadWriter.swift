internal import WiretapeBytes

/// Writes HTTP/1.1 heads.
package enum HTTPHeadWriter {
    /// Appends the head of a request with its empty line.
    package static func append(_ head: RequestHead, into out: inout [UInt8]) {
        append(text: head.method, into: &out)
        out.append(0x20)
        append(text: head.target, into: &out)
        out.append(utf8: " HTTP/\(head.version)\r\n")
        append(fields: head.headers, into: &out)
    }

    /// Appends the head of a response with its empty line. An empty reason stays empty.
    package static func append(_ head: ResponseHead, into out: inout [UInt8]) {
        out.append(utf8: "HTTP/\(head.version) \(head.status) ")
        append(text: head.reason, into: &out)
        out.append(utf8: "\r\n")
        append(fields: head.headers, into: &out)
    }

    /// Appends a whole answer: `Content-Length`, `Date` and `Connection` are made here and whatever the answer says about
    /// them, or about transfer codings, is left out. The usual reason stands in for an empty one.
    /// - Parameters:
    ///   - isHead: whether the request was HEAD. The body is then not sent. `Content-Length` is the size of the body or, if the body is empty,
    ///     the answer's own `Content-Length`. If the answer has none, it is left out.
    ///   - keepAlive: for an HTTP/1.0 request that asked for it say so with `version` "1.0".
    ///   - date: the value of `Date`; nil leaves it out.
    package static func append(
        _ answer: HTTPAnswer, isHead: Bool = false, version: String = "1.1", keepAlive: Bool = true,
        date: String? = nil,
        into out: inout [UInt8]
    ) {
        let mayHaveBody = answer.status >= 200 && answer.status != 204 && answer.status != 304
        var fields = stable(answer.headers)
        let isEmptyHead = isHead && answer.body.isEmpty
        let length = isEmptyHead ? answer.headers.first("Content-Length") : "\(answer.body.count)"
        if mayHaveBody, let length { fields.append(HeaderField("Content-Length", length)) }
        if let date { fields.append(HeaderField("Date", date)) }
        if !keepAlive {
            fields.append(HeaderField("Connection", "close"))
        } else if version == "1.0" {
            fields.append(HeaderField("Connection", "keep-alive"))
        }
        append(answer, fields, into: &out)
        if mayHaveBody, !isHead { out.append(contentsOf: answer.body) }
    }

    /// Appends the head of an answer whose body goes on; the body's bytes are not written here. It is chunked, or, when the
    /// client knows no chunks, ends with the connection.
    package static func appendStream(
        _ answer: HTTPAnswer, isChunked: Bool, keepAlive: Bool, date: String? = nil, into out: inout [UInt8]
    ) {
        var fields = stable(answer.headers)
        if let date { fields.append(HeaderField("Date", date)) }
        if isChunked { fields.append(HeaderField("Transfer-Encoding", "chunked")) }
        if !keepAlive { fields.append(HeaderField("Connection", "close")) }
        append(answer, fields, into: &out)
    }

    private static func stable(_ headers: [HeaderField]) -> [HeaderField] {
        headers.filter { field in
            !["content-length", "transfer-encoding", "connection", "date"].contains {
                equalIgnoringCase(field.name, $0)
            }
        }
    }

    private static func append(_ answer: HTTPAnswer, _ fields: [HeaderField], into out: inout [UInt8]) {
        let reason = answer.reason.isEmpty ? statusText(answer.status) : answer.reason
        append(ResponseHead(status: answer.status, reason: reason, headers: fields), into: &out)
    }

    /// Appends fields and the empty line.
    package static func append(fields: [HeaderField], into out: inout [UInt8]) {
        for field in fields {
            append(text: field.name, into: &out)
            out.append(utf8: ": ")
            append(text: field.value, into: &out)
            out.append(utf8: "\r\n")
        }
        out.append(utf8: "\r\n")
    }

    /// Text that was read from a head goes back to the bytes that it was (below U+0100); other characters, which only our own
    /// texts have, as UTF-8. CR, LF and NUL become blanks: no text can end its line.
    static func append(text: String, into out: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0, 0x0a, 0x0d: out.append(0x20)
            case ..<0x100: out.append(UInt8(scalar.value))
            default: out.append(contentsOf: Character(scalar).utf8)
            }
        }
    }
}
