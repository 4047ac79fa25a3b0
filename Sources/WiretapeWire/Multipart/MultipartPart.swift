internal import WiretapeBytes

/// One part of a multipart body.
package struct MultipartPart: Hashable, Sendable {
    package var headers: [HeaderField]
    package var body: [UInt8]

    /// From what stands between two delimiter lines: header lines, an empty line, the body, and the line end that belongs
    /// to the delimiter. Lines that are no header fields are passed over; without an empty line there is no body. Line ends
    /// that a `Content-Length` does not count are none of the body.
    init(_ bytes: [UInt8]) {
        headers = []
        var at = 0
        while true {
            let end = bytes[at...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let line = MultipartPart.withoutLineEnd(bytes[at..<end])
            at = min(end + 1, bytes.count)
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            headers.append(
                HeaderField(
                    String(decoding: line[..<colon], as: UTF8.self).trimmingBlanks(),
                    String(decoding: line[(colon + 1)...], as: UTF8.self).trimmingBlanks()))
        }
        var rest = bytes[at...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        rest = MultipartPart.withoutLineEnd(rest)
        if let length = headers.first("Content-Length").flatMap({ Int($0) }), length >= 0, length < rest.count,
            rest.dropFirst(length).allSatisfy({ $0 == 0x0d || $0 == 0x0a })
        {
            rest = rest.prefix(length)
        }
        body = Array(rest)
    }

    /// Where the header lines end, and where the body starts behind the empty line; nil without an empty line.
    package static func body(of bytes: [UInt8]) -> (headerEnd: Int, start: Int)? {
        var at = 0
        while let end = bytes[at...].firstIndex(of: UInt8(ascii: "\n")) {
            if withoutLineEnd(bytes[at..<end]).isEmpty { return (at, end + 1) }
            at = end + 1
        }
        return nil
    }

    private static func withoutLineEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}
