internal import WiretapeBytes

/// The payload of a ``RecordKind/fault`` record: a u64 of the bytes that were delivered (2^64−1: all), a u32 length and the
/// rule, then the action.
package enum FaultRecord {
    /// - Parameter delivered: bytes of what carried the event; nil: all of it.
    package static func encode(_ rule: String, _ action: String, delivered: Int? = nil) -> [UInt8] {
        let name = Array(rule.utf8)
        var out: [UInt8] = []
        out.append(littleEndian: delivered.map { UInt64(clamping: $0) } ?? .max)
        out.append(littleEndian: UInt32(clamping: name.count))
        out += name
        out.append(utf8: action)
        return out
    }

    static func decode(_ payload: Span<UInt8>) -> (rule: String, action: String, delivered: UInt64?) {
        guard payload.count >= 12 else { return ("", "", nil) }
        let delivered = payload.littleEndian(UInt64.self, at: 0)
        let length = Int(payload.littleEndian(UInt32.self, at: 8))
        let end = 12 + min(length, payload.count - 12)
        return (
            text(payload.extracting(12..<end)), text(payload.extracting(end..<payload.count)),
            delivered == .max ? nil : delivered
        )
    }
}
