internal import WiretapeBytes

/// How a multipart body is written, byte for byte: as servers that push usually do, or as one server did
/// (``MultipartReader/writer``).
///
/// Each part is written with the delimiter behind it, so that a client has the part at once. Servers differ in the boundary,
/// in what stands before the first part, in a part's header lines, in whether the delimiter's line ends with the part
/// before it, and in the end.
package struct MultipartWriter: Hashable, Sendable {
    /// What the body begins with, up to the first delimiter without the end of its line.
    package let opening: [UInt8]
    /// The end of a line.
    package let lineEnd: [UInt8]
    /// A part's header lines, each with its end; the value of `Content-Length` is the part's own.
    package let header: [UInt8]
    /// What stands behind a part's body: line ends and the delimiter.
    let delimiter: [UInt8]
    /// Whether the delimiter's line ends with the part before it.
    package let endsLine: Bool
    /// What stands behind the last delimiter.
    package let closing: [UInt8]
    /// Whether that goes out with the last part.
    let closesWithPart: Bool

    /// The body begins with a line end, and a part has one header line: some clients cannot read anything else.
    /// - Parameters:
    ///   - boundary: without the two hyphens; characters of a token only.
    ///   - contentType: that of every part.
    package init(boundary: String, contentType: String = "application/json") {
        self.init(
            opening: Array("\r\n--\(boundary)".utf8), lineEnd: Array("\r\n".utf8),
            header: Array("content-type: \(contentType)\r\n".utf8), delimiter: Array("\r\n--\(boundary)".utf8),
            endsLine: false, closing: Array("--\r\n".utf8), closesWithPart: true)
    }

    package init(
        opening: [UInt8], lineEnd: [UInt8], header: [UInt8], delimiter: [UInt8], endsLine: Bool, closing: [UInt8],
        closesWithPart: Bool
    ) {
        self.opening = opening
        self.lineEnd = lineEnd
        self.header = header
        self.delimiter = delimiter
        self.endsLine = endsLine
        self.closing = closing
        self.closesWithPart = closesWithPart
    }

    /// A part and the delimiter behind it.
    /// - Parameter isLineEnded: the line of the delimiter before it has ended.
    package func part(_ body: Span<UInt8>, isLineEnded: Bool, into out: inout [UInt8]) {
        if !isLineEnded { out += lineEnd }
        out += header(of: body.count)
        out += lineEnd
        out.append(copying: body)
        out += delimiter
    }

    /// The header lines of a part with so many bytes.
    private func header(of count: Int) -> [UInt8] {
        var out: [UInt8] = []
        for line in header.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            if name.count < line.count, equalIgnoringCase(String(decoding: name, as: UTF8.self), "Content-Length") {
                out += name
                out.append(utf8: ": \(count)")
                out += lineEnd
            } else {
                out += line
                out.append(UInt8(ascii: "\n"))
            }
        }
        return out
    }
}

/// A multipart body while it is written: its opening has gone out.
package struct MultipartAnswer: Sendable {
    package let writer: MultipartWriter
    /// The line of the last delimiter has ended: the next part begins with its header.
    private var isLineEnded = false
    private var isClosed = false

    package init(_ writer: MultipartWriter) { self.writer = writer }

    /// Appends a part and the delimiter behind it.
    /// - Parameter isLast: no part follows.
    package mutating func part(_ body: Span<UInt8>, isLast: Bool, into out: inout [UInt8]) {
        writer.part(body, isLineEnded: isLineEnded, into: &out)
        isLineEnded = false
        if isLast, writer.closesWithPart {
            end(into: &out)
        } else if writer.endsLine, !isLast {
            out += writer.lineEnd
            isLineEnded = true
        }
    }

    /// Appends what makes the last delimiter the closing one, unless that is there.
    package mutating func end(into out: inout [UInt8]) {
        guard !isClosed else { return }
        isClosed = true
        if isLineEnded { out += writer.delimiter.drop { $0 == 0x0d || $0 == 0x0a } }
        out += writer.closing
    }
}
