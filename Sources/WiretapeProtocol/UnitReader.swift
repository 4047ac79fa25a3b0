/// Cuts a streamed body into units without losing a byte of it, in any split: all units together are the body.
///
/// - `events`: a block of a `text/event-stream` with the empty line that ends it. Comments that stand before a block are a
///   unit of their own when nothing follows them at once. The LF of a CRLF that comes behind a CR which has ended a block
///   begins the next unit.
/// - `lines`: a line with its LF.
/// - `pieces`: what arrived together.
package struct UnitReader: Sendable {
    package enum Kind: Hashable, Sendable { case events, lines, pieces }

    private let kind: Kind
    private let limit: Int
    /// Of the unit that is not whole.
    private var held: [UInt8] = []
    /// Bytes of the line that has not ended.
    private var line = 0
    private var isComment = false
    /// The block has a line that is no comment.
    private var hasField = false
    private var isAfterCR = false
    private var isSkipping = false

    /// - Parameter limit: most bytes of a unit.
    package init(_ kind: Kind, limit: Int) {
        self.kind = kind
        self.limit = limit
    }

    /// Whether nothing of a unit has come since the last one.
    package var isBetween: Bool { held.isEmpty && line == 0 && !isSkipping }

    /// What the body ended in the middle of; nothing when it ended between units.
    package mutating func takeRest() -> [UInt8] {
        defer { reset() }
        return held
    }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`.
    package mutating func feed(_ bytes: [UInt8], from: Int) -> BodyReader.Outcome {
        guard from < bytes.count else { return restOfComments(from) }
        switch kind {
        case .pieces: return unit(bytes[from...], next: bytes.count)
        case .lines: return lines(bytes, from)
        case .events: return events(bytes, from)
        }
    }

    private mutating func lines(_ bytes: [UInt8], _ from: Int) -> BodyReader.Outcome {
        guard let end = bytes[from...].firstIndex(of: 0x0a) else { return hold(bytes[from...]) }
        return unit(bytes[from...end], next: end + 1)
    }

    private mutating func events(_ bytes: [UInt8], _ from: Int) -> BodyReader.Outcome {
        var at = from
        if isAfterCR {
            isAfterCR = false
            if bytes[at] == 0x0a { at += 1 }
        }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            guard byte == 0x0a || byte == 0x0d else {
                if line == 0 { isComment = byte == UInt8(ascii: ":") }
                line += 1
                continue
            }
            if byte == 0x0d {
                isAfterCR = at == bytes.count
                if !isAfterCR, bytes[at] == 0x0a { at += 1 }
            }
            if line == 0 { return unit(bytes[from..<at], next: at) }
            if !isComment { hasField = true }
            line = 0
        }
        let outcome = hold(bytes[from...])
        guard case .more = outcome else { return outcome }
        return restOfComments(bytes.count)
    }

    /// Comments mean something by themselves: that the server is there.
    private mutating func restOfComments(_ next: Int) -> BodyReader.Outcome {
        guard kind == .events, line == 0, !hasField, !isSkipping, held.contains(UInt8(ascii: ":")) else { return .more }
        defer { held = [] }
        return .payload(held, next: next)
    }

    private mutating func hold(_ bytes: ArraySlice<UInt8>) -> BodyReader.Outcome {
        guard !isSkipping else { return .more }
        guard held.count + bytes.count <= limit else {
            held = []
            isSkipping = true
            return .tooLong(next: bytes.endIndex)
        }
        held.append(contentsOf: bytes)
        return .more
    }

    private mutating func unit(_ bytes: ArraySlice<UInt8>, next: Int) -> BodyReader.Outcome {
        let (before, wasSkipping, afterCR) = (held, isSkipping, isAfterCR)
        reset()
        isAfterCR = afterCR
        // That it was too long has been told.
        if wasSkipping { return .skipped(next: next) }
        guard before.count + bytes.count <= limit else { return .tooLong(next: next) }
        return .payload(before.isEmpty ? Array(bytes) : before + bytes, next: next)
    }

    private mutating func reset() {
        held = []
        (line, isComment, hasField, isAfterCR, isSkipping) = (0, false, false, false, false)
    }
}
