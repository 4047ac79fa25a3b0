internal import WiretapeWire

/// Heads, bodies and their framing: cut anywhere, they are read as when whole, and a head with another `Host` is the same head.
enum HTTPTargets {
    static let all = [
        FuzzTarget("http-request") { judge(FuzzInput($0), .toServer) },
        FuzzTarget("http-response") { judge(FuzzInput($0), .toClient) },
    ]

    private enum Found: Hashable {
        case request(RequestHead, HTTPHeadInfo)
        case response(ResponseHead, HTTPHeadInfo)
        case body([UInt8])
        case end([HeaderField])
        case bad(HTTPFault)
    }

    private static func judge(_ input: FuzzInput, _ role: Direction) -> String? {
        guard let whole = read(input.whole, input, role), let cut = read(input.pieces, input, role) else {
            return "the scanner does not get on"
        }
        guard whole.0 == cut.0, whole.1 == cut.1 else { return "cut: \(cut)\nwhole: \(whole)" }
        for case .request(let head, let info) in whole.0 {
            if let wrong = rewritten(head, info) { return wrong }
        }
        return nil
    }

    private static func read(_ pieces: [[UInt8]], _ input: FuzzInput, _ role: Direction) -> ([Found], HTTPFinish)? {
        var scanner = HTTPScanner(role)
        if role == .toClient {
            let methods = ["GET", "HEAD", "CONNECT", "POST"]
            for shift in [0, 2] { scanner.expect(method: methods[Int(input.choices >> UInt8(shift) & 3)]) }
        }
        var found: [Found] = []
        for piece in pieces {
            var at = 0
            var looks = 0
            reading: while true {
                looks += 1
                guard looks <= 4 * piece.count + 16 else { return nil }
                switch scanner.scan(piece.span, from: at) {
                case .more: break reading
                case .request(let head, let info, let next):
                    found.append(.request(head, info))
                    at = next
                case .response(let head, let info, let next):
                    found.append(.response(head, info))
                    at = next
                case .body(let range, let next):
                    if case .body(let before) = found.last {
                        found[found.count - 1] = .body(before + piece[range])
                    } else {
                        found.append(.body(Array(piece[range])))
                    }
                    at = next
                case .end(let trailers, let next):
                    found.append(.end(trailers))
                    at = next
                case .bad(let fault, let next):
                    found.append(.bad(fault))
                    at = next
                }
            }
        }
        return (found, scanner.finish())
    }

    /// The relay forwards heads with another host: a server has to read the same request, with one host.
    private static func rewritten(_ head: RequestHead, _ info: HTTPHeadInfo) -> String? {
        let raw = HTTPHeadWriter.rewritingHost(info.raw, to: "upstream:1")
        var scanner = HTTPScanner(.toServer)
        guard case .request(let there, let about, _) = scanner.scan(raw.span, from: 0) else {
            return "with another host it is no request any more"
        }
        func others(_ head: RequestHead) -> [HeaderField] {
            head.headers.filter { !equalIgnoringCase($0.name, "host") }
        }
        guard there.method == head.method, there.target == head.target, others(there) == others(head),
            about.framing == info.framing, about.keepAlive == info.keepAlive
        else { return "with another host it is another request: \(there)" }
        return there.headers.all("Host") == ["upstream:1"] || there.headers.all("Host").isEmpty
            ? nil : "hosts: \(there.headers.all("Host"))"
    }
}
