internal import WiretapeWire

// What happens on a stage, in words for people.

extension ClientAction {
    var words: String {
        switch self {
        case .request(_, let head, let body, _): "\(head.method) \(head.target) \(readable(body))"
        case .message(_, _, let bytes, _): readable(bytes)
        case .closeFrame(_, let code): "close \(code)"
        case .end(_, let reset): reset ? "RST" : "FIN"
        }
    }
}

extension ClientEvent {
    var words: String {
        switch self {
        case .answered(_, let status, _, let body): "\(status) \(readable(body))"
        case .streamOpened(_, let status): "\(status) …"
        case .streamBytes(_, let bytes), .message(_, _, let bytes): readable(bytes)
        case .streamEnded: "end of the stream"
        case .upgraded: "101"
        case .closeFrame(_, let code): "close \(code.map { "\($0)" } ?? "-")"
        case .ended(_, let reset): reset ? "RST" : "FIN"
        }
    }
}

private func readable(_ bytes: [UInt8]) -> String {
    String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0 < 0x20 ? UInt8(ascii: " ") : $0) }))
}
