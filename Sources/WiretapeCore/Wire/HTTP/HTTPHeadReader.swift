internal import WiretapeBytes

/// Reads the bytes of one complete head. Line ends are found once; every field becomes a pair of strings.
struct HTTPHeadReader {
    /// More fields are refused: no client sends so many, and readers of such heads differ in what they keep.
    static let fieldLimit = 1024

    let raw: [UInt8]
    let role: Direction
    private(set) var at = 0
    private(set) var sawBareLF = false
    private var sawCRLF = false

    init(_ raw: [UInt8], _ role: Direction) {
        self.raw = raw
        self.role = role
    }

    /// Whether lines of the head end in different ways.
    var mixesLineEnds: Bool { sawBareLF && sawCRLF }

    /// The next line without its end; nil at the empty line.
    mutating func line() throws(HTTPFault) -> Range<Int>? {
        let raw = raw  // A span of the property would lock all of `self`.
        let bytes = raw.span
        guard at < bytes.count, let feed = firstIndex(of: 0x0a, in: bytes, from: at) else { return nil }
        var end = feed
        if end > at, bytes[end - 1] == 0x0d {
            end -= 1
            sawCRLF = true
        } else {
            sawBareLF = true
        }
        let line = at..<end
        at = feed + 1
        for i in line {
            if bytes[i] == 0x0d { throw HTTPFault(400, "bare CR in the head") }
            if bytes[i] == 0 { throw HTTPFault(400, "NUL in the head") }
        }
        return line.isEmpty ? nil : line
    }

    /// All fields up to the empty line.
    mutating func fields() throws(HTTPFault) -> [HeaderField] {
        var fields: [HeaderField] = []
        while let line = try line() {
            guard fields.count < Self.fieldLimit else { throw HTTPFault(431, "more than 1024 header fields") }
            fields.append(try field(line))
        }
        return fields
    }

    private func field(_ line: Range<Int>) throws(HTTPFault) -> HeaderField {
        let bytes = raw.span
        if bytes[line.lowerBound] == 0x20 || bytes[line.lowerBound] == 0x09 {
            throw HTTPFault(400, "folded header line")
        }
        var colon = line.lowerBound
        while colon < line.upperBound, Self.isToken(bytes[colon]) { colon += 1 }
        guard colon < line.upperBound, bytes[colon] == UInt8(ascii: ":") else {
            let isBlank = colon < line.upperBound && (bytes[colon] == 0x20 || bytes[colon] == 0x09)
            throw HTTPFault(400, isBlank ? "blank before the colon of a header field" : "not a header field")
        }
        guard colon > line.lowerBound else { throw HTTPFault(400, "header field without a name") }
        var first = colon + 1
        var last = line.upperBound
        while first < last, bytes[first] == 0x20 || bytes[first] == 0x09 { first += 1 }
        while last > first, bytes[last - 1] == 0x20 || bytes[last - 1] == 0x09 { last -= 1 }
        return HeaderField(text(line.lowerBound..<colon), text(first..<last))
    }

    /// The bytes as ISO 8859-1.
    func text(_ range: Range<Int>) -> String {
        let bytes = raw.span
        var isASCII = true
        for i in range where bytes[i] >= 0x80 {
            isASCII = false
            break
        }
        if isASCII { return String(decoding: raw[range], as: UTF8.self) }
        var scalars = String.UnicodeScalarView()
        for i in range { scalars.append(Unicode.Scalar(bytes[i])) }
        return String(scalars)
    }

    /// `tchar` of RFC 9110 section 5.6.2.
    @inline(__always) static func isToken(_ byte: UInt8) -> Bool {
        // Bit n stands for byte n, respectively n + 64.
        let low: UInt64 = 0x03ff_6cfa_0000_0000
        let high: UInt64 = 0x57ff_ffff_c7ff_fffe
        return byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte & 63) & 1 == 1
    }
}
