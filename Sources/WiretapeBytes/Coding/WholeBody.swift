/// The decoding of a whole body, a slice at a time: a small body may become a large one, and others are not to wait for it.
package struct WholeBody: Sendable {
    private let body: [UInt8]
    /// Nil: there is nothing to remove.
    private let decoder: ContentDecoder?
    private let limit: Int
    private var used = 0
    private var plain: [UInt8] = []

    /// - Parameter limit: bytes that may come out of it.
    package init(_ body: [UInt8], _ codings: ContentCodings, limit: Int) throws(ContentDecoder.Fault) {
        self.body = body
        self.limit = limit
        // An empty body has no codings, whatever its head says.
        guard !body.isEmpty, !codings.isEmpty else {
            decoder = nil
            return
        }
        guard let decoder = ContentDecoder(codings) else { throw .unknown(codings.text) }
        self.decoder = decoder
    }

    /// Bytes that it keeps besides the body itself.
    package var heldCount: Int { plain.count }

    /// Decodes about so many bytes more.
    /// - Returns: all that came out of the body; nil when there is more to come.
    package mutating func next(_ slice: Int) throws(ContentDecoder.Fault) -> [UInt8]? {
        guard let decoder else { return body }
        let body = body
        let most = min(limit + 1 - plain.count, slice)
        switch decoder.feed(body.span, used: &used, limit: most, into: &plain) {
        case .more:
            guard decoder.isAtEnd else { throw .truncated }
            guard plain.count <= limit else { throw .tooLong(limit: limit) }
            return plain
        case .full:
            if plain.count > limit { throw .tooLong(limit: limit) }
            return nil
        case .bad(let fault): throw fault
        }
    }
}
