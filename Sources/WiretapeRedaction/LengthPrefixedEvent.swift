internal import WiretapeWire

/// The data of a server-sent event that are messages behind their lengths (``LengthPrefixedTexts``).
///
/// A length was counted before the data were cut into lines. Line ends of two characters were sent as one line break, and count as
/// two all the same: both are tried.
package struct LengthPrefixedEvent {
    /// The data of all its lines, without the name before the first and the end of the last.
    package let range: Range<Int>
    /// What the lines say, with the line ends that its lengths count.
    package let text: [UInt8]
    /// What stands between two lines: the line's end, and the field's name.
    private let between: [UInt8]

    package enum Found {
        case none
        /// It may be one, when more comes.
        case begun
        case event(LengthPrefixedEvent)
    }

    static let name = Array("data".utf8)

    /// The event whose first line of data begins at `at`, with the field's name or what has come of it.
    /// - Parameter isWhole: nothing comes behind the bytes.
    package static func find(_ bytes: [UInt8], _ at: Int, isWhole: Bool) -> Found {
        guard let first = fieldStart(bytes, at) else {
            return !isWhole && bytes.count - at <= name.count && name.starts(with: bytes[at...]) ? .begun : .none
        }
        let digits = bytes[first...].prefix(LengthPrefixReader.mostDigits).prefix { (0x30...0x39).contains($0) }
        if digits.endIndex == bytes.count { return !isWhole && digits.first != 0x30 ? .begun : .none }
        guard LengthPrefixedTexts.mayBegin(bytes[first...]), !isBehindData(at, in: bytes) else { return .none }
        return lines(bytes, first, isWhole: isWhole)
    }

    /// Reads the lines up to the one that ends the event.
    private static func lines(_ bytes: [UInt8], _ first: Int, isWhole: Bool) -> Found {
        var lines: [ArraySlice<UInt8>] = []
        var between: [UInt8]?
        var from = first
        while true {
            guard let end = bytes[from...].firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) else {
                guard isWhole else { return .begun }
                lines.append(bytes[from...])
                break
            }
            lines.append(bytes[from..<end])
            let next = lineStart(bytes, behind: end)
            // A line feed may follow a carriage return, and nobody knows whether the next line is one of data.
            guard next < bytes.count else {
                guard isWhole else { return .begun }
                break
            }
            if bytes[next] == 0x0a || bytes[next] == 0x0d { break }
            guard let data = fieldStart(bytes, next) else {
                return !isWhole && bytes.count - next <= name.count && name.starts(with: bytes[next...])
                    ? .begun : .none
            }
            between = between ?? Array(bytes[end..<data])
            from = data
        }
        let range = first..<(lines.last?.endIndex ?? first)
        for lineEnd in [[0x0a], [0x0d, 0x0a]] as [[UInt8]] {
            let text = Array(lines.joined(separator: lineEnd))
            guard LengthPrefixedTexts.isAll(text) else { continue }
            return .event(LengthPrefixedEvent(range: range, text: text, between: between ?? lineEnd + name + [0x3a]))
        }
        return .none
    }

    /// Lines of data that say that text.
    package func written(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        var at = 0
        while at < text.count {
            if text[at] == 0x0a || text[at] == 0x0d {
                at = LengthPrefixedEvent.lineStart(text, behind: at)
                out += between
            } else {
                out.append(text[at])
                at += 1
            }
        }
        return out
    }

    /// Where the value of the field begins; nil when no field of data stands at `at`.
    private static func fieldStart(_ bytes: [UInt8], _ at: Int) -> Int? {
        let colon = at + name.count
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":"), bytes[at..<colon].elementsEqual(name) else {
            return nil
        }
        return colon + 1 < bytes.count && bytes[colon + 1] == 0x20 ? colon + 2 : colon + 1
    }

    /// Where the line behind that line end begins.
    private static func lineStart(_ bytes: [UInt8], behind end: Int) -> Int {
        bytes[end] == 0x0d && end + 1 < bytes.count && bytes[end + 1] == 0x0a ? end + 2 : end + 1
    }

    /// Whether the line before that place is one of data: then the event has begun before it.
    private static func isBehindData(_ at: Int, in bytes: [UInt8]) -> Bool {
        guard at > 0 else { return false }
        var end = at - 1
        if bytes[end] == 0x0a, end > 0, bytes[end - 1] == 0x0d { end -= 1 }
        let before = bytes[..<end].lastIndex { $0 == 0x0a || $0 == 0x0d }.map { $0 + 1 } ?? 0
        return fieldStart(bytes, before) != nil
    }
}
