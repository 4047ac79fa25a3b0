internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

extension Inspector {
    typealias Description = (kind: InspectRow.Kind, direction: Direction?, text: String)

    /// An event in words, for those that gave no message.
    static func describe(_ kind: TapeEvent.Kind) -> Description {
        switch kind {
        case .open(let open): return (.open, nil, describe(open))
        case .request(_, let head, let body): return (.request, .toServer, describe(head, body))
        case .response(_, let head, let body, let interim, _, let proxy):
            return (.response(byProxy: proxy), .toClient, describe(head, body, interim: interim, proxy: proxy))
        case .chunk(_, let direction, let bytes):
            return (.piece, direction, "body \(size(bytes.count)) \(quoted(bytes))")
        case .end(_, let direction, let trailers):
            let names = trailers.map(\.name).joined(separator: ", ")
            return (.bodyEnd, direction, trailers.isEmpty ? "end of the body" : "end of the body, trailers \(names)")
        case .message(let direction, let opcode, let bytes, _, _):
            return (.piece, direction, "\(opcode.rawValue) message behind the connection's end, \(size(bytes.count))")
        case .part(let direction, let opcode, let n, let bytes, _):
            let number = UInt64(clamping: n) + 1
            return (.piece, direction, "piece \(number) of a \(opcode.rawValue) message, \(size(bytes.count))")
        case .ping(let direction, let bytes): return (.keepalive, direction, "ping\(payload(bytes))")
        case .pong(let direction, let bytes): return (.keepalive, direction, "pong\(payload(bytes))")
        case .close(let direction, let code, let reason):
            return (.close, direction, describe(code, reason))
        case .gone(.proxy, let how, let why?) where why.hasPrefix(FaultNote.account):
            return (.gone(.proxy), nil, "\(ending(how)) by fault '\(why.dropFirst(FaultNote.account.count))'")
        case .gone(let party, let how, let why):
            let reason = why.map { " (\($0))" } ?? ""
            return (.gone(party), party.direction, "\(ending(how)) by the \(party.rawValue)\(reason)")
        case .fault(let rule, let action, let reference, let delivered, let line):
            var text = "fault '\(rule)': \(action)"
            if let reference { text += " at event \(reference)" }
            if let delivered { text += ", \(delivered) bytes delivered" }
            if let line { text += ", line \(line) of the tape" }
            return (.fault, nil, text)
        case .mark(let text): return (.note, nil, "mark: \(text)")
        case .take(let started): return (.note, nil, "a later recording, started \(started)")
        case .gap(let lost): return (.note, nil, "gap: \(lost) events were not stored")
        case .missing(let direction, let bytes):
            let count = bytes.map { "\($0) byte\($0 == 1 ? "" : "s")" } ?? "what was said before"
            return (.note, direction, "gap: \(count) not captured")
        case .stop(let events, let connections, let level):
            let slow = level.map { ", compression went down to \($0)" } ?? ""
            let counts =
                "\(events) event\(events == 1 ? "" : "s"), \(connections) connection\(connections == 1 ? "" : "s")"
            return (.note, nil, "end of the recording: \(counts)\(slow)")
        case .unknown("malformed"): return (.note, nil, "bytes that are no HTTP")
        case .frame, .unknown("frame"): return (.note, nil, "a frame that is part of no message")
        case .unknown(let name): return (.note, nil, "'\(name)', unknown to this version")
        }
    }

    private static func describe(_ open: TapeEvent.Open) -> String {
        var text = "open"
        if let from = open.from { text += " from \(from)" }
        if let upstream = open.upstream { text += " to \(upstream)" }
        if let tls = open.tls {
            text += " over \(tls.version ?? "TLS")" + (tls.client.map { ", its certificate \($0)" } ?? "")
        }
        if let name = open.session { text += ", session '\(name)'" }
        return text
    }

    private static func describe(_ head: RequestHead, _ body: TapeEvent.Body) -> String {
        var text = "\(head.method) \(head.target)"
        if let upgrade = head.headers.first("Upgrade"), head.headers.hasToken("upgrade", in: "Connection") {
            text += ", upgrade to \(upgrade)"
        }
        return text + describe(body)
    }

    private static func describe(_ head: ResponseHead, _ body: TapeEvent.Body, interim: Bool, proxy: Bool) -> String {
        var text = "\(head.status)"
        if !head.reason.isEmpty { text += " \(head.reason)" }
        if head.status == 101, let upgrade = head.headers.first("Upgrade") { text += ", now \(upgrade)" }
        if let type = head.headers.first("Content-Type") { text += ", \(type)" }
        if interim { text += ", interim" }
        return text + describe(body) + (proxy ? ", made by wiretape" : "")
    }

    private static func describe(_ body: TapeEvent.Body) -> String {
        switch body {
        case .none: ""
        case .whole(let bytes): bytes.isEmpty ? "" : ", \(size(bytes.count))"
        case .streamed: ", body follows"
        }
    }

    private static func describe(_ code: UInt16?, _ reason: String?) -> String {
        var text = "close frame"
        if let code { text += " \(code)" }
        if let reason, !reason.isEmpty { text += " \(JSONValue.string(reason).text)" }
        return text
    }

    private static func ending(_ how: TapeEvent.How) -> String {
        switch how {
        case .fin: "closed"
        case .rst: "reset"
        case .timeout: "given up"
        case .error: "failed"
        }
    }

    private static func size(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

    private static func payload(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "" : " \(quoted(bytes))" }

    /// The beginning of the bytes, as text or in hexadecimal.
    private static func quoted(_ bytes: [UInt8]) -> String {
        let head = JSONValue(plain: Array(bytes.prefix(256)))
        if let text = head["text"] { return text.text }
        return hexText(bytes.prefix(32)) + (bytes.count > 32 ? "…" : "")
    }
}

extension TapeEvent.Party {
    /// The way that an ending made by it goes; nil for the proxy's, which goes both ways.
    fileprivate var direction: Direction? {
        switch self {
        case .client: .toServer
        case .server: .toClient
        case .proxy: nil
        }
    }
}
