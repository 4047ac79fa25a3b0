package import WiretapeWire

/// Texts behind their lengths (`5|hello`), one behind the other, as Atmosphere's servers write their messages. A length counts
/// UTF-16 code units, so whoever changes a text computes it anew.
///
/// Nothing but their form tells such texts: each has exactly as many units as it announces, and behind it stands the next one,
/// or blanks, or nothing. So `5|hello token=…` is none of them.
package struct LengthPrefixedTexts {
    package struct Record {
        /// The length with its delimiter.
        package var length: Range<Int>
        package var text: Range<Int>
    }

    /// What stands behind the records that were found.
    package enum Rest {
        case nothing
        /// A record has begun.
        case begun
        /// Something else. The record before it is not told as one: both may be a text of no such form.
        case other
    }

    package private(set) var records: [Record] = []
    package private(set) var rest = Rest.nothing
    /// Where the rest begins.
    package private(set) var next = 0
    /// Whether what has come already shows that the last record has ended where it says.
    package private(set) var isLastSure = true

    /// - Parameters:
    ///   - reader: where the bytes are a stream's: it remembers how much of a begun record it has seen.
    ///   - isWhole: nothing comes behind the bytes.
    package init(_ bytes: [UInt8], _ reader: inout LengthPrefixReader, isWhole: Bool) {
        var end: Rest?
        while end == nil { end = step(bytes, &reader, isWhole: isWhole) }
        rest = end ?? .other
        if rest == .other, let last = records.popLast() { next = last.length.lowerBound }
    }

    /// The next record. Returns what stands there instead of one.
    private mutating func step(_ bytes: [UInt8], _ reader: inout LengthPrefixReader, isWhole: Bool) -> Rest? {
        while next < bytes.count, LengthPrefixedTexts.isBlank(bytes[next]) { next += 1 }
        guard next < bytes.count else {
            isLastSure = isWhole
            return .nothing
        }
        // Nobody writes a length with zeros before it.
        guard bytes[next] != UInt8(ascii: "0") else { return .other }
        switch reader.next(bytes, at: next, isWhole: isWhole) {
        case .record(let message, let end):
            records.append(Record(length: next..<message, text: message..<end))
            next = end
            return nil
        case .incomplete:
            isLastSure = LengthPrefixReader.number(bytes, at: next) != nil
            return .begun
        case .damaged, .bare: return .other
        }
    }

    /// Whether a text may begin with a record: blanks, digits and the delimiter stand there.
    package static func mayBegin(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        let rest = bytes.drop(while: isBlank)
        guard let first = rest.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first) else { return false }
        return rest.prefix(LengthPrefixReader.mostDigits + 1)
            .first { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == LengthPrefixReader.delimiter
    }

    /// The records of a text that is nothing but records; nil for any other text.
    private static func all(of bytes: [UInt8]) -> [Record]? {
        guard mayBegin(bytes) else { return nil }
        var reader = LengthPrefixReader()
        let found = LengthPrefixedTexts(bytes, &reader, isWhole: true)
        return found.rest == .nothing && !found.records.isEmpty ? found.records : nil
    }

    /// Whether a text is nothing but records.
    package static func isAll(_ bytes: [UInt8]) -> Bool { all(of: bytes) != nil }

    /// A text of nothing but records with other texts in them. Nil when nothing changes, or when it is none.
    /// - Parameter change: gives what stands for a text; nil: it stays.
    package static func replacing(_ bytes: [UInt8], _ change: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
        all(of: bytes).flatMap { replacing($0, in: bytes[...], change) }
    }

    /// The same for records that were found at the beginning of `bytes`. What stands beside them stays.
    static func replacing(
        _ records: [Record], in bytes: ArraySlice<UInt8>, _ change: ([UInt8]) -> [UInt8]?
    ) -> [UInt8]? {
        var out: [UInt8] = []
        var at = bytes.startIndex
        for record in records {
            guard let new = change(Array(bytes[record.text])) else { continue }
            out += bytes[at..<record.length.lowerBound]
            out += "\(LengthPrefixReader.units(of: new[...]))".utf8
            out.append(LengthPrefixReader.delimiter)
            out += new
            at = record.text.upperBound
        }
        return at == bytes.startIndex ? nil : out + bytes[at...]
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }
}
