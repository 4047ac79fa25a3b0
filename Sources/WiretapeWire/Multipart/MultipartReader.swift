internal import WiretapeBytes

/// Reads a multipart body (RFC 2046, section 5.1) in any split. A part is told as soon as the delimiter behind it is there,
/// whether or not that line has ended: servers that push write the delimiter with the part before it. Lines may end in LF
/// alone. What stands before the first delimiter and behind the last is passed over, and so is a part without any bytes.
///
/// Bad input there is none: a line that begins with the delimiter is one, whatever follows on it.
package struct MultipartReader: Sendable {
    private let delimiter: [UInt8]
    private let limit: Int
    private var state = State.preamble
    /// Bytes of the delimiter that the line has begun with; nil within a line that is none.
    private var matched: Int? = 0
    /// The part so far, its header lines included.
    private var held: [UInt8] = []
    /// Hyphens at the start of what follows the delimiter on its line.
    private var hyphens: Int? = 0
    /// What follows the delimiter on its line, as much as a line end has.
    private var line: [UInt8] = []
    private var manner = MultipartManner()

    private enum State: Sendable {
        case preamble, part
        /// The rest of a delimiter's line.
        case delimiterLine
        /// In a part that was too long.
        case skipping
        case over
    }

    /// - Parameters:
    ///   - boundary: without the two hyphens.
    ///   - limit: most bytes of a part with its headers.
    package init(boundary: [UInt8], limit: Int = 1 << 20) {
        delimiter = [UInt8(ascii: "-"), UInt8(ascii: "-")] + boundary
        self.limit = limit
    }

    /// The closing delimiter was read.
    package var isOver: Bool { if case .over = state { true } else { false } }

    /// Nothing of a part has been read since the last one was told.
    package var isBetweenParts: Bool {
        switch state {
        case .preamble, .delimiterLine, .over: true
        case .part: held.isEmpty
        case .skipping: false
        }
    }

    /// How the body is written, as far as it was read; nil before the first part.
    package var writer: MultipartWriter? { manner.writer(delimiter: delimiter, isOver: isOver) }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`.
    package mutating func feed(_ bytes: Span<UInt8>, from: Int) -> MultipartOutcome {
        var at = from
        while at < bytes.count {
            switch state {
            case .over:
                manner.after(bytes.extracting(at...))
                return .more
            case .delimiterLine:
                manner.after(bytes.extracting(at...at))
                if endsDelimiter(bytes[at]) { return .end(next: at + 1) }
                at += 1
            case .preamble, .part, .skipping:
                if let outcome = look(bytes, &at) { return outcome }
            }
        }
        return .more
    }

    /// One more byte behind a delimiter. True with the second hyphen of the closing one.
    private mutating func endsDelimiter(_ byte: UInt8) -> Bool {
        if line.count < 2 { line.append(byte) }
        if byte == UInt8(ascii: "\n") {
            manner.ended(line: line)
            state = .part
            matched = 0
            return false
        }
        guard let count = hyphens, byte == UInt8(ascii: "-") else {
            hyphens = nil
            return false
        }
        hyphens = count + 1
        if count == 1 { state = .over }
        return count == 1
    }

    /// Takes what belongs together: a byte of what may be a delimiter, or all up to the end of the line.
    private mutating func look(_ bytes: Span<UInt8>, _ at: inout Int) -> MultipartOutcome? {
        guard let count = matched else {
            let end = firstIndex(of: UInt8(ascii: "\n"), in: bytes, from: at)
            let next = end.map { $0 + 1 } ?? bytes.count
            if end != nil { matched = 0 }
            defer { at = next }
            note(bytes.extracting(at..<next))
            return hold(bytes.extracting(at..<next)) ? nil : .tooLong(next: next)
        }
        guard bytes[at] == delimiter[count] else {
            matched = nil
            return nil
        }
        matched = count + 1
        // Without a look at the limit: it is not known yet whether it is the part's.
        if case .part = state { held.append(bytes[at]) }
        note(bytes.extracting(at...at))
        at += 1
        return count + 1 == delimiter.count ? endPart(bytes, at) : nil
    }

    private mutating func note(_ piece: Span<UInt8>) {
        if case .preamble = state { manner.before(piece) } else { manner.after(piece) }
    }

    /// Adds to the part; false when that makes it too long for the first time.
    private mutating func hold(_ piece: Span<UInt8>) -> Bool {
        guard case .part = state else { return true }
        guard held.count + piece.count <= limit else {
            state = .skipping
            held = []
            return false
        }
        held.append(copying: piece)
        return true
    }

    private mutating func endPart(_ bytes: Span<UInt8>, _ next: Int) -> MultipartOutcome? {
        defer {
            state = .delimiterLine
            hyphens = 0
            line = []
            held = []
        }
        guard case .part = state, held.count > delimiter.count else { return nil }
        held.removeLast(delimiter.count)
        let part = MultipartPart(held)
        manner.part(held, part, rest: bytes.extracting(next...))
        return .part(part, next: next)
    }
}

/// What ``MultipartReader/feed(_:from:)`` found. `next` is where to go on.
package enum MultipartOutcome: Hashable, Sendable {
    /// Everything was read.
    case more
    case part(MultipartPart, next: Int)
    /// A part above the limit: it is passed over.
    case tooLong(next: Int)
    /// The closing delimiter. What follows is nobody's.
    case end(next: Int)
}
