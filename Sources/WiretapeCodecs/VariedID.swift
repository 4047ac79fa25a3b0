internal import WiretapeWire

/// The `n`th variation of an id. Counts in its letters and digits, the first character fastest: digits stay digits,
/// hexadecimal letters stay hexadecimal, everything else stays. Two values of `n` differ as long as there are ids left.
func varied(_ id: String, _ n: Int) -> String {
    guard n > 0 else { return id }
    var bytes = Array(id.utf8)
    let isHex = bytes.allSatisfy { hexDigit($0) != nil || $0 == UInt8(ascii: "-") }
    var carry = n
    for i in bytes.indices where carry > 0 {
        let base: UInt8
        let size: Int
        switch bytes[i] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): (base, size) = (UInt8(ascii: "0"), 10)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): (base, size) = (UInt8(ascii: "a"), isHex ? 6 : 26)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): (base, size) = (UInt8(ascii: "A"), isHex ? 6 : 26)
        default: continue
        }
        let (sum, overflow) = Int(bytes[i] - base).addingReportingOverflow(carry)
        guard !overflow else { continue }
        bytes[i] = base + UInt8(sum % size)
        carry = sum / size
    }
    // SignalR's JavaScript client cuts its poll URLs at the first `_=`: no id may hold it.
    for i in bytes.indices.dropLast() where bytes[i] == UInt8(ascii: "_") && bytes[i + 1] == UInt8(ascii: "=") {
        bytes[i] = UInt8(ascii: "-")
    }
    return String(decoding: bytes, as: UTF8.self)
}
