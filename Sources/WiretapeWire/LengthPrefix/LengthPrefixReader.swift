/// Cuts a stream of `LENGTH|message` records, in any split: between two bytes of a character, too. LENGTH counts UTF-16
/// code units, the unit of Java's and JavaScript's strings. So Atmosphere's servers write their messages.
package struct LengthPrefixReader: Hashable, Sendable {
    /// A longer message is not gathered: its record counts as damaged.
    package static let limit = 16 << 20
    /// Of the number before the delimiter.
    package static let mostDigits = 10

    package enum Record: Hashable {
        /// A whole record: where its message begins and where it ends.
        case record(message: Int, end: Int)
        /// The bytes end before the record does.
        case incomplete
        /// The number announces more than there is, or the message ends within a character.
        case damaged(reason: String, end: Int)
        /// No number and delimiter stand here: servers leave them out for what they cannot count.
        case bare
    }

    /// How far the record at the beginning of the kept bytes has been looked at.
    private var scanned = 0
    private var units = 0

    package init() {}

    /// The record at `at`.
    /// - Parameter isWhole: nothing more comes behind `bytes`.
    package mutating func next(_ bytes: [UInt8], at: Int, isWhole: Bool) -> Record {
        guard let (count, message) = LengthPrefixReader.number(bytes, at: at) else {
            let rest = bytes[at...]
            let isCut = !isWhole && rest.count < LengthPrefixReader.mostDigits && rest.allSatisfy(isDigit)
            return isCut ? .incomplete : .bare
        }
        guard count <= LengthPrefixReader.limit else {
            return .damaged(reason: "announces \(count) characters", end: bytes.count)
        }
        var end = max(message, at + scanned)
        var seen = units
        scan(bytes, &end, &seen, upTo: count, isWhole: isWhole)
        guard seen < count else {
            (scanned, units) = (0, 0)
            guard seen == count else {
                return .damaged(reason: "character \(count) is half of a pair", end: end)
            }
            return .record(message: message, end: end)
        }
        if isWhole { return .damaged(reason: "announces \(count) characters, \(seen) are there", end: bytes.count) }
        (scanned, units) = (end - at, seen)
        return .incomplete
    }

    /// The number and delimiter at `at`, and where the message behind them begins.
    package static func number(_ bytes: [UInt8], at: Int) -> (count: Int, message: Int)? {
        var next = at
        var count = 0
        while next < bytes.count, isDigit(bytes[next]), next - at < mostDigits {
            count = count * 10 + Int(bytes[next] - UInt8(ascii: "0"))
            next += 1
        }
        guard next > at, next < bytes.count, bytes[next] == delimiter else { return nil }
        return (count, next + 1)
    }

    package static let delimiter = UInt8(ascii: "|")

    /// UTF-16 code units of a whole text in UTF-8; what is not UTF-8 counts as one for every byte.
    package static func units(of bytes: ArraySlice<UInt8>) -> Int {
        var at = 0
        var units = 0
        LengthPrefixReader().scan(Array(bytes), &at, &units, upTo: .max, isWhole: true)
        return units
    }

    /// Moves on until so many units are seen or the bytes end. Unless they are whole, a character that is cut off at their
    /// end is left for later.
    private func scan(_ bytes: [UInt8], _ at: inout Int, _ units: inout Int, upTo count: Int, isWhole: Bool) {
        while units < count, at < bytes.count {
            let length = LengthPrefixReader.length(bytes[at])
            var there = 1
            while there < length, at + there < bytes.count, bytes[at + there] & 0xc0 == 0x80 { there += 1 }
            if there < length {
                if !isWhole, at + there == bytes.count { return }
                at += 1
                units += 1
            } else {
                at += length
                units += length == 4 ? 2 : 1
            }
        }
    }

    /// Bytes of the character that begins so.
    private static func length(_ first: UInt8) -> Int {
        switch first {
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: 1
        }
    }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
