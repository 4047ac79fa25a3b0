internal import WiretapeWire

extension RecordedSession {
    /// Where a client begins: the path with the query items by which the session is found.
    package var endpoint: String {
        let target = opening.request.target
        guard let mark = target.firstIndex(of: "?") else { return route }
        let kept = target[target.index(after: mark)...].split(separator: "&").filter { item in
            let head = RequestHead(method: "GET", target: "?\(item)")
            return StableQuery.stable(head, codec.type.volatileQuery).contains { !StableQuery.isPseudonym($0.value) }
        }
        return kept.isEmpty ? route : "\(route)?\(kept.joined(separator: "&"))"
    }

    /// The WebSocket subprotocol: what the recorded server chose; on a tape that does not tell, what the messages are.
    package var subprotocol: String? {
        guard let response = opening.response else { return writer.subprotocol }
        return response.headers.first("Sec-WebSocket-Protocol")
    }
}
