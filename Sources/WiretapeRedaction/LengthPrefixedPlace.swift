/// Where messages behind their lengths (``LengthPrefixedTexts``) stand within a text, spelled as that wants it: the data of an event,
/// or a string of JSON or of a script. A length counts what the string says, not how it is spelled.
package struct LengthPrefixedPlace {
    package let range: Range<Int>
    /// What stands there, lengths included.
    package let text: [UInt8]
    private let spelling: Spelling

    private enum Spelling {
        case event(LengthPrefixedEvent)
        case string
    }

    /// The text that is to stand there, in the same spelling.
    package func written(_ text: [UInt8]) -> [UInt8] {
        switch spelling {
        case .event(let event): event.written(text)
        case .string: TextScan.escaped(text)
        }
    }

    /// The places of a whole text, in order.
    package static func all(in bytes: [UInt8]) -> [LengthPrefixedPlace] {
        let scan = TextScan(bytes, isWhole: true, depth: 0)
        var places: [LengthPrefixedPlace] = []
        var at = 0
        while at < bytes.count {
            if let place = string(at, scan) ?? event(at, scan) {
                places.append(place)
                at = place.range.upperBound
            }
            at += 1
        }
        return places
    }

    private static func string(_ at: Int, _ scan: TextScan) -> LengthPrefixedPlace? {
        guard scan.bytes[at] == UInt8(ascii: "\""), at == 0 || scan.bytes[at - 1] != UInt8(ascii: "\\"),
            LengthPrefixedTexts.mayBegin(scan.bytes[(at + 1)...]),
            case .at(let close) = scan.closing(at + 1, scan.bytes.count),
            let text = TextScan.unescapedScript(scan.bytes[at + 1..<close]), LengthPrefixedTexts.isAll(text)
        else { return nil }
        return LengthPrefixedPlace(range: at + 1..<close, text: text, spelling: .string)
    }

    private static func event(_ at: Int, _ scan: TextScan) -> LengthPrefixedPlace? {
        guard scan.beginsEvent(at..<at + 1),
            case .event(let event) = LengthPrefixedEvent.find(scan.bytes, at, isWhole: true)
        else { return nil }
        return LengthPrefixedPlace(range: event.range, text: event.text, spelling: .event(event))
    }
}
