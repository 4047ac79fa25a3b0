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
}
