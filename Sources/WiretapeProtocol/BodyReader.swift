package import WiretapeWire

/// Cuts a streamed answer into payloads, in any split.
package struct BodyReader: Sendable {
    private var kind: Kind

    private enum Kind: Sendable {
        case events(SSEReader)
        case parts(MultipartReader)
        case bytes
        case units(UnitReader)
    }

    /// - Parameter limit: most bytes of a payload.
    package init(_ framing: BodyFraming, limit: Int) {
        switch framing {
        case .events: kind = .events(SSEReader(limit: limit))
        case .parts(let boundary): kind = .parts(MultipartReader(boundary: boundary, limit: limit))
        case .bytes: kind = .bytes
        case .units(let units): kind = .units(UnitReader(units, limit: limit))
        }
    }

    /// Whether what has come since the last payload is part of none: comments between events.
    package var isBetween: Bool {
        switch kind {
        case .events(let reader): reader.isBetweenEvents
        case .parts(let reader): reader.isBetweenParts
        case .bytes: true
        case .units(let reader): reader.isBetween
        }
    }

    /// What the body ended in the middle of, where that means something; else nothing.
    package mutating func takeRest() -> [UInt8] {
        guard case .units(var reader) = kind else { return [] }
        defer { kind = .units(reader) }
        return reader.takeRest()
    }

    /// The body itself says that nothing more follows (the closing delimiter of a multipart body).
    package var isOver: Bool { if case .parts(let reader) = kind { reader.isOver } else { false } }

    /// How a multipart body is written, as far as it was read.
    package var multipart: MultipartWriter? { if case .parts(let reader) = kind { reader.writer } else { nil } }

    /// What was found. `next` is where the following call starts.
    package enum Outcome {
        /// All bytes are taken; more are needed.
        case more
        case payload([UInt8], next: Int)
        /// A payload exceeded the limit and is dropped.
        case tooLong(next: Int)
        /// The end of such a payload.
        case skipped(next: Int)
    }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`.
    package mutating func feed(_ bytes: [UInt8], from: Int, of codec: any FrameCodec.Type) -> Outcome {
        switch kind {
        case .events(var reader):
            // The enum lets go of the reader, so that it changes in place.
            kind = .bytes
            defer { kind = .events(reader) }
            var at = from
            while true {
                switch reader.feed(bytes.span, from: at) {
                case .more: return .more
                case .comment(_, let next), .retry(_, let next): at = next
                case .event(let event, let next): return .payload(codec.payload(of: event), next: next)
                case .tooLong(let next): return .tooLong(next: next)
                }
            }
        case .parts(var reader):
            kind = .bytes
            defer { kind = .parts(reader) }
            switch reader.feed(bytes.span, from: from) {
            case .more: return .more
            case .end(let next):
                _ = reader.feed(bytes.span, from: next)
                return .more
            case .part(let part, let next): return .payload(part.body, next: next)
            case .tooLong(let next): return .tooLong(next: next)
            }
        case .bytes:
            guard from < bytes.count else { return .more }
            return .payload(from == 0 ? bytes : Array(bytes[from...]), next: bytes.count)
        case .units(var reader):
            kind = .bytes
            defer { kind = .units(reader) }
            return reader.feed(bytes, from: from)
        }
    }
}
