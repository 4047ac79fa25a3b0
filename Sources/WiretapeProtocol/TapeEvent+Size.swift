extension TapeEvent.Kind {
    /// Bytes of the payload or body that the event carries.
    package var payloadCount: Int {
        switch self {
        case .request(_, _, let body), .response(_, _, let body, _, _, _): body.count
        case .chunk(_, _, let bytes), .ping(_, let bytes), .pong(_, let bytes): bytes.count
        case .message(_, _, let bytes, _, _), .part(_, _, _, let bytes, _): bytes.count
        case .open, .end, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop, .unknown: 0
        }
    }
}

extension TapeEvent.Body {
    fileprivate var count: Int {
        switch self {
        case .whole(let bytes): bytes.count
        case .none, .streamed: 0
        }
    }
}
