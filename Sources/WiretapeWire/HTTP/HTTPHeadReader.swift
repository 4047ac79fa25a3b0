internal import WiretapeBytes

/// Reads the bytes of one complete head. Line ends are found once; every field becomes a pair of strings.
struct HTTPHeadReader {
    /// More fields are refused: no client sends so many, and readers of such heads differ in what they keep.
    static let fieldLimit = 1024

    package let raw: [UInt8]
    package private(set) var at = 0
    private(set) var sawBareLF = false
    private var sawCRLF = false

    init(_ raw: [UInt8]) { self.raw = raw }

    /// Whether lines of the head end in different ways.
    var mixesLineEnds: Bool { sawBareLF && sawCRLF }

    /// The next line without its end; nil at the empty line. Its bytes are not judged yet.
    package mutating func line() -> Range<Int>? {
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
        return line.isEmpty ? nil : line
    }

    /// All fields up to the empty line. `facts` hears of each.
    package mutating func fields(_ facts: inout HTTPFramingFacts) throws(HTTPFault) -> [HeaderField] {
        var fields: [HeaderField] = []
        fields.reserveCapacity(12)
        while let line = line() {
            guard fields.count < Self.fieldLimit else { throw HTTPFault(431, "more than 1024 header fields") }
            fields.append(try field(line, &facts))
        }
        return fields
    }

    private func field(_ line: Range<Int>, _ facts: inout HTTPFramingFacts) throws(HTTPFault) -> HeaderField {
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
        let name = String(decoding: raw[line.lowerBound..<colon], as: UTF8.self)
        let value = try text(first..<last)
        facts.note(bytes.extracting(line.lowerBound..<colon), bytes.extracting(first..<last), value)
        return HeaderField(name, value)
    }

    /// The bytes as ISO 8859-1.
    package func text(_ range: Range<Int>) throws(HTTPFault) -> String {
        let bytes = raw.span.extracting(range)
        var all: UInt8 = 0
        var isBad = false
        for i in bytes.indices {
            let byte = bytes[i]
            all |= byte
            if byte == 0 || byte == 0x0d { isBad = true }
        }
        if isBad { throw HTTPFault(400, "bare CR or NUL in the head") }
        if all < 0x80 { return String(decoding: raw[range], as: UTF8.self) }
        var scalars = String.UnicodeScalarView()
        for i in bytes.indices { scalars.append(Unicode.Scalar(bytes[i])) }
        return String(scalars)
    }

    /// `tchar` of RFC 9110 section 5.6.2.
    @inline(__always) package static func isToken(_ byte: UInt8) -> Bool {
        // Bit n stands for byte n, respectively n + 64.
        let low: UInt64 = 0x03ff_6cfa_0000_0000
        let high: UInt64 = 0x57ff_ffff_c7ff_fffe
        return byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte & 63) & 1 == 1
    }
}
