internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeWire

extension HARExchange {
    /// The entry's text.
    /// - Parameters:
    ///   - origin: nanoseconds since 1970 at which the tape's times begin.
    ///   - spill: called often; may take what is there of the text.
    func write(origin: UInt64, into out: inout [UInt8], spill: (inout [UInt8]) throws -> Void) throws {
        let plain = plainAnswer()
        let (sent, wait, receive) = (
            milliseconds(began, requestEnded ?? began),
            milliseconds(requestEnded ?? began, response == nil ? began : answered),
            response == nil ? 0 : milliseconds(answered, ended ?? last)
        )
        let (start, isOver) = origin.addingReportingOverflow(began)
        out.append(utf8: #"{"startedDateTime":"\#(SystemClock.rfc3339(isOver ? origin : start))","time":"#)
        out.append(utf8: HARText.number(sent + wait + receive))
        out.append(utf8: #","request":"#)
        writeRequest(into: &out)
        out.append(utf8: #","response":"#)
        writeResponse(plain, into: &out)
        out.append(utf8: #","cache":{},"timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":"#)
        out.append(
            utf8: HARText.number(sent) + #","wait":"# + HARText.number(wait) + #","receive":"# + HARText.number(receive)
        )
        out.append(utf8: #"},"connection":"\#(connection)""#)
        if isSocket {
            out.append(utf8: #","_resourceType":"websocket","_webSocketMessages":["#)
            for (i, message) in messages.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                out += message
                try spill(&out)
            }
            out.append(UInt8(ascii: "]"))
        } else if let type = response?.headers.first("Content-Type"), MediaType(type).name == "text/event-stream" {
            try spill(&out)
            writeEvents(plain, origin, into: &out)
        }
        try writeLines(isPlain: plain == nil, into: &out, spill: spill)
        out.append(UInt8(ascii: "}"))
    }

    private func milliseconds(_ from: UInt64, _ to: UInt64) -> Double { to > from ? Double(to - from) / 1e6 : 0 }

    /// What the answer's body means, where that is not what is on the tape.
    private func plainAnswer() -> [UInt8]? {
        guard let response, !responseBody.isEmpty else { return nil }
        let codings = response.without(coding).headers.contentCodings
        guard !codings.isEmpty else { return nil }
        return try? ContentDecoder.whole(responseBody, codings, limit: max(16 << 20, 8 * responseBody.count))
    }

    private static func write(_ headers: [HeaderField], into out: inout [UInt8]) {
        out.append(utf8: #""headers":["#)
        for (i, field) in headers.enumerated() {
            out.append(utf8: i > 0 ? #",{"name":"# : #"{"name":"#)
            HARText.string(HARText.head(field.name), into: &out)
            out.append(utf8: #","value":"#)
            HARText.string(HARText.head(field.value), into: &out)
            out.append(UInt8(ascii: "}"))
        }
        out.append(UInt8(ascii: "]"))
    }

    private func writeRequest(into out: inout [UInt8]) {
        out.append(utf8: #"{"method":"#)
        HARText.string(request.method, into: &out)
        out.append(utf8: #","url":"#)
        HARText.string(HARText.head(url), into: &out)
        out.append(utf8: #","httpVersion":"HTTP/\#(request.version == "1.0" ? "1.0" : "1.1")","cookies":[],"#)
        HARExchange.write(request.headers, into: &out)
        out.append(utf8: #","queryString":["#)
        for (i, item) in request.query.enumerated() {
            out.append(utf8: i > 0 ? #",{"name":"# : #"{"name":"#)
            HARText.string(item.name, into: &out)
            out.append(utf8: #","value":"#)
            HARText.string(item.value, into: &out)
            out.append(UInt8(ascii: "}"))
        }
        out.append(utf8: "]")
        if !requestBody.isEmpty {
            out.append(utf8: #","postData":{"mimeType":"#)
            HARText.string(request.headers.first("Content-Type") ?? "application/octet-stream", into: &out)
            out.append(utf8: #","params":[],"text":"#)
            // A HAR has no place for a request's bytes that are no text: they are among ours.
            // A copy of the reference: a property's span is not let out of a class in release builds.
            let body = requestBody
            if !JSONEscape.appendString(body.span, into: &out) {
                out.append(utf8: "\"\",\"comment\":\"binary\"")
            }
            out.append(UInt8(ascii: "}"))
        }
        out.append(utf8: #","headersSize":-1,"bodySize":\#(requestBody.count)}"#)
    }

    private func writeResponse(_ plain: [UInt8]?, into out: inout [UInt8]) {
        guard let response else {
            out.append(
                utf8:
                    #"{"status":0,"statusText":"","httpVersion":"","cookies":[],"headers":[],"content":{"size":0,"mimeType":"x-unknown"},"#
                    + #""redirectURL":"","headersSize":-1,"bodySize":-1,"_error":"no answer is on the tape"}"#)
            return
        }
        let body = plain ?? responseBody
        out.append(utf8: #"{"status":\#(response.status),"statusText":"#)
        HARText.string(HARText.head(response.reason), into: &out)
        out.append(utf8: #","httpVersion":"HTTP/\#(response.version == "1.0" ? "1.0" : "1.1")","cookies":[],"#)
        HARExchange.write(response.headers, into: &out)
        out.append(utf8: #","content":{"size":\#(body.count),"mimeType":"#)
        HARText.string(HARText.head(response.headers.first("Content-Type") ?? "x-unknown"), into: &out)
        if !isSocket {
            out.append(utf8: #","text":"#)
            if !JSONEscape.appendString(body.span, into: &out) {
                out.append(UInt8(ascii: "\""))
                Base64.append(body.span, into: &out)
                out.append(utf8: #"","encoding":"base64""#)
            }
        }
        out.append(utf8: #"},"redirectURL":"#)
        HARText.string(HARText.head(response.headers.first("Location") ?? ""), into: &out)
        out.append(utf8: #","headersSize":-1,"bodySize":\#(responseBody.count)}"#)
    }

    /// The events of a stream as Chrome tells them.
    private func writeEvents(_ plain: [UInt8]?, _ origin: UInt64, into out: inout [UInt8]) {
        out.append(utf8: #","_resourceType":"eventsource","_eventSourceMessages":["#)
        var reader = SSEReader(limit: max(1, (plain ?? responseBody).count))
        var isFirst = true
        func told(_ bytes: Span<UInt8>, at time: UInt64) {
            var at = 0
            while true {
                let next: Int
                switch reader.feed(bytes, from: at) {
                case .more: return
                case .event(let event, let after):
                    next = after
                    out.append(utf8: isFirst ? #"{"time":"# : #",{"time":"#)
                    isFirst = false
                    out.append(utf8: HARText.number((Double(origin) + Double(time)) / 1e9))
                    out.append(utf8: #","eventName":"#)
                    HARText.string(event.type.isEmpty ? "message" : event.type, into: &out)
                    out.append(utf8: #","eventId":"#)
                    HARText.string(event.id, into: &out)
                    out.append(utf8: #","data":"#)
                    if !JSONEscape.appendString(event.data.span, into: &out) { out.append(utf8: "\"\"") }
                    out.append(UInt8(ascii: "}"))
                case .comment(_, let after), .retry(_, let after), .tooLong(let after): next = after
                }
                at = next
            }
        }
        if let plain {
            told(plain.span, at: ended ?? last)
        } else {
            let body = responseBody
            var from = 0
            for piece in pieces where piece.end > from && piece.end <= body.count {
                told(body.span.extracting(from..<piece.end), at: piece.time)
                from = piece.end
            }
        }
        out.append(UInt8(ascii: "]"))
    }

    // MARK: Ours

    /// - Parameter isPlain: whether the answer's text is the bytes of the tape.
    private func writeLines(isPlain: Bool, into out: inout [UInt8], spill: (inout [UInt8]) throws -> Void) throws {
        out.append(utf8: #","_wiretape":{"lines":["#)
        let isRequestText = String(validUTF8: requestBody) != nil
        for (i, line) in lines.enumerated() {
            if i > 0 { out.append(UInt8(ascii: ",")) }
            var own: [UInt8] = []
            var place: String?
            switch line.place {
            case .none: break
            case .request(let range):
                if isRequestText {
                    place = HARExchange.place(#""request""#, range, of: requestBody.count)
                } else {
                    own = Array(requestBody[range])
                }
            case .response(let range):
                if isPlain {
                    place = HARExchange.place(#""response""#, range, of: responseBody.count)
                } else {
                    own = Array(responseBody[range])
                }
            case .message(let index): place = "\(index)"
            case .part(_, let run, let range):
                if let index = runs[run].index {
                    place = HARExchange.place("\(index)", range, of: runs[run].bytes.count)
                } else {
                    own = Array(runs[run].bytes[range])
                }
            }
            HARExchange.write(line, place, own, into: &out)
            try spill(&out)
        }
        out.append(utf8: "]}")
    }

    private static func place(_ name: String, _ range: Range<Int>, of count: Int) -> String {
        range == 0..<count ? name : #"\#(name),"bytes":[\#(range.lowerBound),\#(range.count)]"#
    }

    /// - Parameters:
    ///   - place: where the payload stands in the entry.
    ///   - own: the payload where it stands nowhere else.
    static func write(_ line: Line, _ place: String?, _ own: [UInt8], into out: inout [UInt8]) {
        out.append(utf8: #"{"n":\#(line.number),"#)
        if !TapeReader.isEvent(line.template.span, line.template.indices) {
            out.append(utf8: #""comment":"#)
            HARText.string(String(decoding: line.template, as: UTF8.self), into: &out)
            return out.append(UInt8(ascii: "}"))
        }
        out.append(utf8: #""line":"#)
        var template = line.template
        if let key = line.key, place == nil {
            template.removeLast()
            if template.count > 1 { template.append(UInt8(ascii: ",")) }
            JSONEscape.appendString(key, into: &template)
            template.append(UInt8(ascii: ":"))
            if key == "json" {
                template += own
            } else if key != "text" || !JSONEscape.appendString(own.span, into: &template) {
                template.append(UInt8(ascii: "\""))
                Base64.append(own.span, into: &template)
                template.append(UInt8(ascii: "\""))
            }
            template.append(UInt8(ascii: "}"))
        }
        out += template
        if let key = line.key, let place { out.append(utf8: #","key":"\#(key)","in":\#(place)"#) }
        out.append(UInt8(ascii: "}"))
    }
}
