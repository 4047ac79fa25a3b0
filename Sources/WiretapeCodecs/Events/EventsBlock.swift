internal import WiretapeWire

/// A block of a `text/event-stream` as it came: lines of fields and comments, and the empty line that ends them. A text that
/// is none is taken as the data of one.
struct EventsBlock: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = EventsBlock.framed(bytes) }

    /// What browsers would tell of it; nil when there is no data, or its empty line is missing.
    var event: SSEEvent? {
        var reader = SSEReader(limit: max(1, bytes.count))
        var at = 0
        while true {
            switch reader.feed(bytes.span, from: at) {
            case .more, .tooLong: return nil
            case .comment(_, let next), .retry(_, let next): at = next
            case .event(let event, _): return event
            }
        }
    }

    /// The id that it sets, also one without data.
    var id: String? {
        let ids = lines.compactMap { line in
            EventsBlock.name(of: bytes[line]) == "id" ? String(decoding: bytes[value(of: line)], as: UTF8.self) : nil
        }
        return ids.last.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A block that says nothing to the application, in words.
    var asideText: String {
        let texts = lines.filter { !$0.isEmpty }.map { String(decoding: bytes[$0], as: UTF8.self) }
        return texts.isEmpty ? "empty line" : texts.joined(separator: " ")
    }

    // MARK: Lines

    /// Without their ends.
    private var lines: [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for (at, byte) in bytes.enumerated() where byte == 0x0a || byte == 0x0d {
            lines.append(start..<at)
            start = at + 1
        }
        if start < bytes.count { lines.append(start..<bytes.count) }
        return lines
    }

    private func value(of line: Range<Int>) -> Range<Int> {
        guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")) else {
            return line.upperBound..<line.upperBound
        }
        let start = colon + 1
        return (start < line.upperBound && bytes[start] == 0x20 ? start + 1 : start)..<line.upperBound
    }

    private static func name(of line: ArraySlice<UInt8>) -> String {
        String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    }

    /// The block with other data; everything else stays as it was.
    func replacingData(with text: [UInt8]) -> [UInt8] {
        let end: [UInt8] = bytes.contains(0x0a) ? (bytes.contains(0x0d) ? [0x0d, 0x0a] : [0x0a]) : [0x0d]
        var out: [UInt8] = []
        var isWritten = false
        for line in lines where !line.isEmpty {
            if EventsBlock.name(of: bytes[line]) == "data" {
                if !isWritten { out += EventsBlock.data(text, end) }
                isWritten = true
            } else {
                out += bytes[line] + end
            }
        }
        if !isWritten { out += EventsBlock.data(text, end) }
        return out + end
    }

    private static func data(_ text: [UInt8], _ end: [UInt8]) -> [UInt8] {
        text.split(separator: 0x0a, omittingEmptySubsequences: false).flatMap { Array("data: ".utf8) + $0 + end }
    }

    /// Where the first data stand; of a block without any all of it.
    static func dataRange(_ payload: [UInt8]) -> Range<Int> {
        let block = EventsBlock(payload)
        guard block.bytes == payload else { return payload.indices }
        let first = block.lines.first { name(of: payload[$0]) == "data" }
        return first.map { block.value(of: $0) } ?? payload.indices
    }

    /// A text that is no block as the data of one.
    static func framed(_ bytes: [UInt8]) -> [UInt8] {
        guard !isBlock(bytes) else { return bytes }
        return data(Array(bytes[EventsBody.trimmed(bytes)]), [0x0a]) + [0x0a]
    }

    private static func isBlock(_ bytes: [UInt8]) -> Bool {
        let tail = bytes.suffix(4).filter { $0 == 0x0a }.count
        if bytes.last == 0x0a, tail > 1 || bytes.count == 1 { return true }
        if bytes.suffix(2).elementsEqual([0x0d, 0x0d]) { return true }
        let start = bytes.firstIndex { $0 != 0x0a && $0 != 0x0d } ?? bytes.endIndex
        guard start < bytes.endIndex else { return true }
        let line = bytes[start...].prefix { $0 != 0x0a && $0 != 0x0d }
        let known = line.starts(with: [0xef, 0xbb, 0xbf]) ? line.dropFirst(3) : line
        return ["", "data", "event", "id", "retry"].contains(name(of: known.prefix(16)))
    }
}
