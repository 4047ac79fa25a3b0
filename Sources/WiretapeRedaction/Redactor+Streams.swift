package import WiretapeWire

/// A stream of bytes on its way through a ``Redactor``, piece by piece: what waits for the next piece, since it may be
/// the beginning of a secret.
package struct RedactedStream: Sendable {
    fileprivate var held: [UInt8] = []
    fileprivate var mode: Mode
    /// The number of bytes at the start of ``held`` that are already written.
    fileprivate var written = 0
    /// The delimiter of a multipart body if it has only hyphens. A private key also starts with hyphens, so the redactor would hold this
    /// delimiter back. Servers send it together with the previous part, so it is written at once. Empty for all other streams.
    fileprivate let delimiter: [UInt8]
    /// A short piece is one that its sender meant: it is not cut for what may become a secret.
    fileprivate let keepsPieces: Bool
    /// Whether it is messages behind their lengths, which are looked at one by one.
    fileprivate var lengths: Lengths
    /// How much of the message that waits has been counted.
    fileprivate var reader = LengthPrefixReader()
    /// What waits is a text, and no message behind its length.
    fileprivate var holdsText = false

    fileprivate enum Lengths {
        /// Nothing but blanks has passed: what comes first will tell.
        case undecided
        /// There were some. Their sender may leave the length out of others.
        case found
        case none
    }

    fileprivate enum Mode {
        /// The first piece will tell whether it is MessagePack.
        case undecided
        case text
        /// Others count its bytes: what is replaced keeps its length.
        case bytes
        /// The first bytes will tell whether it is MessagePack behind lengths, which is read message by message; else it is text.
        case maybeFramed
        /// Messages of MessagePack, each behind its length: SignalR's, in an answer that has no known end.
        case framed
        /// Can be read only as a whole.
        case gathering(isBinary: Bool)
        /// Within a secret that was too long to wait for: what comes is left out up to its end.
        case within(TextScan.Unended)
        /// Nothing of it is shown any more.
        case withheld
        /// It is not looked at.
        case asIs
    }

    /// - Parameters:
    ///   - isBinary: it may be MessagePack, which can be read only as a whole.
    ///   - mayBeFramed: it may be messages of MessagePack behind their lengths, and nobody knows when it ends.
    ///   - keepsPieces: nothing in the stream tells where its messages end, but its pieces.
    ///   - mayHaveLengths: it is there from its beginning on, and may be messages behind their lengths.
    ///   - boundary: the `boundary` parameter of a multipart body, without the leading `--`.
    package init(
        isBinary: Bool, mayBeFramed: Bool = false, keepsPieces: Bool = false, mayHaveLengths: Bool = false,
        boundary: String? = nil
    ) {
        let delimiter = boundary.map { Array("--\($0)".utf8) } ?? []
        self.delimiter = delimiter.allSatisfy { $0 == UInt8(ascii: "-") } ? delimiter : []
        mode = isBinary ? .undecided : mayBeFramed ? .maybeFramed : .text
        self.keepsPieces = keepsPieces
        lengths = mayHaveLengths ? .undecided : .none
    }

    /// The pieces of one message, which is looked at as a whole.
    package init(of opcode: Opcode) {
        mode = .gathering(isBinary: opcode == .binary)
        delimiter = []
        keepsPieces = false
        lengths = .none
    }

    /// Whether the stream holds nothing but the end of the delimiter.
    /// - Parameter passed: what the stream no longer holds. It may end with the beginning of the delimiter.
    fileprivate func holdsDelimiter(after passed: ArraySlice<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard !held.isEmpty, held.count <= delimiter.count, held.allSatisfy({ $0 == hyphen }) else { return false }
        let line = passed.reversed().prefix { $0 != UInt8(ascii: "\n") }
        return line.count == delimiter.count - held.count && line.allSatisfy { $0 == hyphen }
    }

    /// How many bytes wait.
    package var waiting: Int { held.count }

    /// From here on it cannot be looked at, or nobody has room for it: what waits is let go.
    package mutating func withhold() {
        mode = .withheld
        held = []
    }

    /// From here on what is replaced keeps its length, so that nothing has to wait for the end.
    package mutating func countBytes() { mode = .bytes }

    /// It is compressed, and nobody wants to see into it.
    package mutating func passOn() { mode = .asIs }

    package var isWithheld: Bool { if case .withheld = mode { true } else { false } }
}

extension Redactor {
    /// A stream for the pieces of one message.
    package func stream(of opcode: Opcode) -> RedactedStream {
        // Pseudonyms in a text are found without its end.
        isRenumbering && opcode == .text
            ? RedactedStream(isBinary: false, mayHaveLengths: true) : RedactedStream(of: opcode)
    }

    /// The next piece of a stream: what may be written of it and of what waited before.
    package mutating func piece(_ bytes: [UInt8], of stream: inout RedactedStream) -> [UInt8] {
        feed(bytes, of: &stream, isLast: false)
    }

    /// The last piece: with what waited.
    package mutating func last(_ bytes: [UInt8], of stream: inout RedactedStream) -> [UInt8] {
        feed(bytes, of: &stream, isLast: true)
    }

    private mutating func feed(_ new: [UInt8], of stream: inout RedactedStream, isLast: Bool) -> [UInt8] {
        var bytes = new
        var quote: [UInt8] = []
        if case .within(let unended) = stream.mode {
            guard let end = Redactor.end(of: unended, in: bytes) else { return [] }
            stream.mode = .text
            // The quote that ends the string begins no other one.
            if unended == .string, bytes[end] == UInt8(ascii: "\"") {
                quote = [bytes[end]]
                bytes.removeFirst(end + 1)
            } else {
                bytes.removeFirst(end)
            }
        }
        if !stream.held.isEmpty {
            bytes = stream.held + bytes
            stream.held = []
        }
        guard !bytes.isEmpty else { return quote }
        // What waits in a long string waits for its end: it need not be looked at with each piece.
        if !isLast, stream.holdsText, bytes.count - new.count > 4096, bytes.count <= Redactor.longestHeld,
            !new.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "\"") })
        {
            stream.held = bytes
            return quote
        }
        if case .undecided = stream.mode {
            stream.mode = Redactor.mayBePacked(bytes) ? .gathering(isBinary: true) : .bytes
        }
        if case .maybeFramed = stream.mode, !decideFraming(of: &bytes, after: &quote, &stream, isLast: isLast) {
            return quote
        }
        switch stream.mode {
        case .withheld: return []
        case .framed: return quote + messages(bytes, of: &stream, isLast: isLast)
        case .asIs: return bytes
        case .gathering(let isBinary):
            if isLast { return payload(bytes, isBinary: isBinary) ?? bytes }
            if bytes.count <= Redactor.longestUnit {
                stream.held = bytes
                return []
            }
            guard isRenumbering else {
                stream.withhold()
                withhold()
                return []
            }
            stream.countBytes()
        case .text, .bytes, .undecided, .maybeFramed, .within: break
        }
        // A longer one was cut by the network.
        let isMeant = stream.keepsPieces && new.count <= 1200
        let whole = records(takenOff: &bytes, of: &stream, isMeant: isMeant, isLast: isLast)
        return quote + whole + text(bytes, of: &stream, isMeant: isMeant, isLast: isLast)
    }

    /// A text, what waited of it before it.
    private mutating func text(
        _ bytes: [UInt8], of stream: inout RedactedStream, isMeant: Bool, isLast: Bool
    ) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        var scan = TextScan(bytes, isWhole: isLast, depth: 0, keepsPieces: isMeant)
        if case .bytes = stream.mode { scan.hasNames = isRenumbering || UnreadBytes.isText(bytes) }
        guard run(&scan) else {
            stream.written = 0
            return Pseudonym.text(Pseudonym.overflow)
        }
        stream.holdsText = scan.held < bytes.count
        if stream.holdsText { stream.held = Array(bytes[scan.held...]) }
        var out: [UInt8]
        if case .bytes = stream.mode {
            out = sameLength(Array(bytes[..<scan.held])) ?? Array(bytes[..<scan.held])
        } else {
            if let unended = scan.unended {
                stream.mode = .within(unended)
                stream.lengths = .none
            }
            out = scan.result() ?? bytes
        }
        if scan.leavesOutRest { stream.withhold() }
        let passed = min(stream.written, scan.held)
        out.removeFirst(min(passed, out.count))
        stream.written -= passed
        if stream.written == 0, stream.holdsDelimiter(after: bytes[..<scan.held]) {
            out += stream.held
            stream.written = stream.held.count
        }
        return out
    }

    /// The messages behind their lengths that `bytes` begin with, as they may be written. One that has begun waits; what is no such
    /// message is left in `bytes`.
    private mutating func records(
        takenOff bytes: inout [UInt8], of stream: inout RedactedStream, isMeant: Bool, isLast: Bool
    ) -> [UInt8] {
        guard stream.lengths != .none else { return [] }
        if stream.holdsText {
            stream.holdsText = false
            return []
        }
        let found = LengthPrefixedTexts(bytes, &stream.reader, isWhole: isLast)
        var (records, rest, next) = (found.records, found.rest, found.next)
        if rest != .begun { stream.reader = LengthPrefixReader() }
        if let last = records.last, !found.isLastSure, waits(behind: Array(bytes[last.text]), isMeant: isMeant) {
            // What follows may belong to it: then it is no such message.
            records.removeLast()
            (rest, next) = (.begun, last.length.lowerBound)
        }
        if !records.isEmpty { stream.lengths = .found }
        if rest == .begun, isMeant, stream.lengths == .undecided, LengthPrefixReader.number(bytes, at: next) == nil {
            // A number that somebody has sent.
            rest = .other
        }
        let passed = bytes[..<next]
        let out = LengthPrefixedTexts.replacing(records, in: passed) { plain($0, depth: 0) } ?? Array(passed)
        bytes.removeFirst(next)
        switch rest {
        case .nothing: break
        case .begun where bytes.count <= Redactor.longestUnit:
            stream.held = bytes
            bytes = []
        case .begun: stream.lengths = .none
        case .other: if stream.lengths == .undecided { stream.lengths = .none }
        }
        return out
    }

    /// Whether a stream that ends with that text waits for what comes behind it.
    private func waits(behind text: [UInt8], isMeant: Bool) -> Bool {
        var probe = self
        var scan = TextScan(text, isWhole: false, depth: 0, keepsPieces: isMeant)
        return probe.run(&scan) && (scan.held < text.count || scan.unended != nil)
    }

    /// Whether the stream is messages with their lengths before them, which its first bytes tell. A handshake before them passes.
    /// - Returns: false when there is nothing to go on with: all has passed, or waits for more.
    private func decideFraming(
        of bytes: inout [UInt8], after passed: inout [UInt8], _ stream: inout RedactedStream, isLast: Bool
    ) -> Bool {
        if bytes.starts(with: PackedTexts.handshake) {
            passed += PackedTexts.handshake
            bytes.removeFirst(PackedTexts.handshake.count)
            guard !bytes.isEmpty else { return false }
        } else if PackedTexts.handshake.starts(with: bytes), !isLast {
            stream.held = bytes
            return false
        }
        switch PackedTexts.framing(bytes, mayBeText: true) {
        case .other: stream.mode = .text
        case .messages: stream.mode = .framed
        case .unknown where isLast: stream.mode = .text
        case .unknown:
            stream.held = bytes
            return false
        }
        return true
    }

    /// Those that are whole; the rest waits.
    private mutating func messages(_ bytes: [UInt8], of stream: inout RedactedStream, isLast: Bool) -> [UInt8] {
        var out: [UInt8] = []
        var at = 0
        while let end = PackedTexts.messageEnd(bytes, at) {
            let message = Array(bytes[at..<end])
            out += payload(message, isBinary: true) ?? message
            at = end
        }
        let rest = Array(bytes[at...])
        if isLast { return out + (payload(rest, isBinary: true) ?? rest) }
        switch PackedTexts.framing(rest, mayBeText: false) {
        case .messages, .unknown:
            guard rest.count <= Redactor.longestUnit else {
                stream.withhold()
                withhold()
                return out
            }
            stream.held = rest
        case .other:
            // It is something else from here on.
            stream.mode = .bytes
            out += sameLength(rest) ?? rest
        }
        return out
    }

    /// A map or an array, or one behind a length as SignalR sends them.
    private static func mayBePacked(_ bytes: [UInt8]) -> Bool {
        func begins(_ at: Int) -> Bool {
            at < bytes.count && ((0x80...0x9f).contains(bytes[at]) || (0xdc...0xdf).contains(bytes[at]))
        }
        var at = 0
        while at < min(bytes.count, 5), bytes[at] & 0x80 != 0 { at += 1 }
        return begins(0) || begins(at + 1) || at + 1 >= bytes.count
    }

    /// Where the secret ends in whose middle the stream is.
    private static func end(of unended: TextScan.Unended, in bytes: [UInt8]) -> Int? {
        let scan = TextScan(bytes, isWhole: false, depth: 0)
        switch unended {
        case .string:
            switch scan.closing(0, bytes.count) {
            case .at(let quote): return quote
            case .none(let control): return control
            case .torn: return nil
            }
        case .item:
            let end = scan.itemEnd(0, bytes.count)
            return end < bytes.count ? end : nil
        }
    }
}
