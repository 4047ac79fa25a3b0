internal import WiretapeBytes

/// The payload of a ``RecordKind/fault`` record: a u32 length and the rule, then the action.
package enum FaultRecord {
    package static func encode(_ rule: String, _ action: String) -> [UInt8] {
        let name = Array(rule.utf8)
        var out: [UInt8] = []
        for shift in stride(from: 0, to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: name.count >> shift)) }
        out += name
        out.append(utf8: action)
        return out
    }

    static func decode(_ payload: Span<UInt8>) -> (rule: String, action: String) {
        guard payload.count >= 4 else { return ("", "") }
        let length = Int(payload.littleEndian(UInt32.self, at: 0))
        let end = 4 + min(length, payload.count - 4)
        return (text(payload.extracting(4..<end)), text(payload.extracting(end..<payload.count)))
    }
}
