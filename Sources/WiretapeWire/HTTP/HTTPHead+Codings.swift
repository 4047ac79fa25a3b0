package import WiretapeBytes

extension [HeaderField] {
    /// What the body's bytes were made of what it means with.
    package var contentCodings: ContentCodings { ContentCodings(all("Content-Encoding")) }

    /// What is left when codings are removed from the body.
    /// - Parameter removed: nil: all of them.
    package func without(_ removed: ContentCodings?) -> [HeaderField] {
        let codings = contentCodings.names
        guard !codings.isEmpty else { return self }
        var rest: [String] = []
        if let removed, codings.count > removed.names.count, codings.suffix(removed.names.count) == removed.names[...] {
            rest = codings.dropLast(removed.names.count)
        }
        var left = filter { !equalIgnoringCase($0.name, "Content-Encoding") }
        if !rest.isEmpty { left.append(HeaderField("Content-Encoding", rest.joined(separator: ", "))) }
        return left
    }
}

extension ResponseHead {
    /// The head without the codings that the recorder has removed from the body.
    package func without(_ removed: String?) -> ResponseHead {
        guard let removed else { return self }
        var head = self
        head.headers = headers.without(ContentCodings([removed]))
        return head
    }
}
