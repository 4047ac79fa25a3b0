import WiretapeWire

/// What a scanner told, without where the pieces were cut: neighbouring body bytes are one.
enum HTTPHeard: Equatable {
    case request(RequestHead, HTTPHeadInfo)
    case response(ResponseHead, HTTPHeadInfo)
    case body([UInt8])
    case end([HeaderField])
    case bad(Int)
    case finish(HTTPFinish)
    /// Bytes behind the end of HTTP, or behind a violation.
    case rest([UInt8])

    /// Feeds `pieces` and then, with `fin`, the end. A piece that does not advance is a failure of the scanner and ends here.
    static func hear(
        _ role: Direction, _ pieces: [[UInt8]], expecting methods: [String] = [], fin: Bool = false
    ) -> [HTTPHeard] {
        var scanner = HTTPScanner(role)
        for method in methods { scanner.expect(method: method) }
        var heard: [HTTPHeard] = []
        var isOver = false
        for piece in pieces {
            var at = 0
            while !isOver {
                switch scanner.scan(piece.span, from: at) {
                case .more:
                    at = piece.count
                    break
                case .request(let head, let info, let next):
                    heard.append(.request(head, info))
                    at = next
                    continue
                case .response(let head, let info, let next):
                    heard.append(.response(head, info))
                    at = next
                    isOver = head.status == 101
                    continue
                case .body(let range, let next):
                    heard.add(body: piece[range])
                    at = next
                    continue
                case .end(let trailers, let next):
                    heard.append(.end(trailers))
                    at = next
                    continue
                case .bad(let fault, let next):
                    heard.append(.bad(fault.status))
                    at = next
                    isOver = true
                    continue
                }
                break
            }
            if isOver, at < piece.count { heard.add(rest: piece[at...]) }
        }
        if fin { heard.append(.finish(scanner.finish())) }
        return heard
    }
}

extension HTTPHeard {
    static func body(_ text: String) -> HTTPHeard { .body(Array(text.utf8)) }
    static func rest(_ text: String) -> HTTPHeard { .rest(Array(text.utf8)) }
}

extension [HTTPHeard] {
    fileprivate mutating func add(body: ArraySlice<UInt8>) {
        if case .body(let before)? = last {
            self[count - 1] = .body(before + body)
        } else {
            append(.body([UInt8](body)))
        }
    }

    fileprivate mutating func add(rest: ArraySlice<UInt8>) {
        if case .rest(let before)? = last {
            self[count - 1] = .rest(before + rest)
        } else {
            append(.rest([UInt8](rest)))
        }
    }
}
