internal import WiretapeBytes

/// What ``MultipartReader`` sees of how a body is written, besides its parts.
struct MultipartManner: Sendable {
    private static let openingLimit = 4_096
    private static let closingLimit = 256

    /// What came before the end of the first delimiter; nil when that was too much.
    private var opening: [UInt8]? = []
    /// What came since the last part's delimiter; nil when that was too much.
    private var behind: [UInt8]? = []
    private var lineEnd: [UInt8] = []
    private var header: [UInt8]?
    private var gap: [UInt8] = []
    private var endsLine = false
    private var closesWithPart = false

    package mutating func before(_ piece: Span<UInt8>) {
        guard let count = opening?.count, count + piece.count <= MultipartManner.openingLimit else {
            return opening = nil
        }
        opening?.append(copying: piece)
    }

    /// Bytes behind a delimiter.
    package mutating func after(_ piece: Span<UInt8>) {
        guard let count = behind?.count, count + piece.count <= MultipartManner.closingLimit else {
            return behind = nil
        }
        behind?.append(copying: piece)
    }

    /// The line of a delimiter has ended.
    package mutating func ended(line: [UInt8]) {
        if lineEnd.isEmpty, line == [0x0d, 0x0a] || line == [0x0a] { lineEnd = line }
    }

    /// A part is there, and the delimiter behind it.
    /// - Parameters:
    ///   - held: its bytes with its header.
    ///   - rest: what came in one go behind the delimiter.
    package mutating func part(_ held: [UInt8], _ part: MultipartPart, rest: Span<UInt8>) {
        behind = []
        if header == nil, let place = MultipartPart.body(of: held) {
            header = Array(held[..<place.headerEnd])
            gap = Array(held[min(place.start + part.body.count, held.count)...])
        }
        if rest.isEmpty {
            endsLine = false
        } else if rest.count <= 2, rest[rest.count - 1] == 0x0a {
            endsLine = true
        }
        closesWithPart = rest.count > 1 && rest[0] == UInt8(ascii: "-") && rest[1] == UInt8(ascii: "-")
    }

    /// How to write such a body; nil when no part was seen, or too much beside the parts.
    /// - Parameter isOver: the closing delimiter was read.
    package func writer(delimiter: [UInt8], isOver: Bool) -> MultipartWriter? {
        guard let opening, let header else { return nil }
        let closing = isOver ? behind : nil
        return MultipartWriter(
            opening: opening, lineEnd: lineEnd.isEmpty ? Array("\r\n".utf8) : lineEnd, header: header,
            delimiter: gap + delimiter, endsLine: endsLine, closing: closing ?? Array("--\r\n".utf8),
            closesWithPart: isOver && closesWithPart)
    }
}
