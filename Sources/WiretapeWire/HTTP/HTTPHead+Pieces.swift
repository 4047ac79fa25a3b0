extension ResponseHead {
    /// Whether each piece of the body means something by itself, as far as the head tells: the body has no length, and its
    /// type is one of which nothing else is known. Servers also write documents in pieces; those are none.
    /// - Parameter method: that of the request.
    package func isInPieces(for method: String) -> Bool {
        guard (200..<300).contains(status), status != 204, !["HEAD", "CONNECT"].contains(method),
            headers.first("Content-Length") == nil
        else { return false }
        return headers.first("Content-Type").map { MediaType($0).isOfPieces } ?? true
    }
}
