/// Pseudonyms get other numbers, and nothing else changes: what `merge` does to tapes that were redacted one by one.
extension Redactor {
    /// The pseudonyms of a text. Where the text goes on, what may be the beginning of one waits.
    mutating func renumber(_ scan: inout TextScan, _ new: [Int: Int]) {
        if Pseudonym.mayStand(in: scan.bytes) {
            for range in Pseudonym.ranges(in: scan.bytes) {
                guard let other = renumbered(Array(scan.bytes[range]), new) else { continue }
                scan.edit(range, other)
            }
        }
        // Whoever wrote pieces that mean something has cut no pseudonym.
        if !scan.isWhole, !scan.keepsPieces {
            let begun = Pseudonym.begun(atEndOf: scan.bytes)
            if begun > 0 { scan.hold(from: scan.bytes.count - begun) }
        }
        scan.settle()
    }

    /// The pseudonym under its new number; nil when it keeps the old one, or is none.
    mutating func renumbered(_ pseudonym: [UInt8], _ new: [Int: Int]) -> [UInt8]? {
        guard let number = Pseudonym.number(of: pseudonym), (1...Pseudonym.largest).contains(number) else { return nil }
        numbers.insert(number)
        return new[number].map { Pseudonym.renumbered(pseudonym, as: $0) }
    }

    /// What is said in MessagePack, of which lengths are computed anew.
    mutating func renumbered(_ text: [UInt8], _ place: PackedTexts.Place, _ new: [Int: Int]) -> [UInt8]? {
        switch place {
        case .text: self.text(text)
        case .bytes(let name):
            if let name, rules.redacts(member: Array(name.utf8)[...]) { self.text(text) } else { sameLength(text) }
        case .number, .pointed(isNumber: true): renumbered(text, new)
        case .pointed(isNumber: false): self.text(text)
        }
    }
}
