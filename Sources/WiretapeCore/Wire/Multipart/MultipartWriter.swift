internal import WiretapeBytes

/// Writes a multipart body part by part, as servers that push do: each delimiter goes out with the part before it, so that
/// a client has the part at once. The body begins with a line end, and a part has one header line: some clients cannot read
/// anything else.
package struct MultipartWriter: Hashable, Sendable {
    private let boundary: String
    private let contentType: String

    /// - Parameters:
    ///   - boundary: without the two hyphens; characters of a token only.
    ///   - contentType: that of every part.
    package init(boundary: String, contentType: String = "application/json") {
        self.boundary = boundary
        self.contentType = contentType
    }

    /// What the body begins with.
    package var opening: [UInt8] { Array("\r\n--\(boundary)".utf8) }

    /// Appends a part and the delimiter behind it.
    package func part(_ body: Span<UInt8>, into out: inout [UInt8]) {
        out.append(utf8: "\r\ncontent-type: \(contentType)\r\n\r\n")
        out.append(copying: body)
        out.append(contentsOf: opening)
    }

    /// What makes the last delimiter the closing one.
    package static let closing = Array("--\r\n".utf8)
}
