/// What the extra field of a tape's gzip member says (`docs/tape-format.md`).
package struct MemberInfo: Hashable, Sendable {
    /// Bytes of the member with header and trailer.
    package var size: UInt32
    /// Events in it.
    package var events: UInt32
    /// `t` of its first event; `UInt64.max`: none.
    package var firstTime: UInt64
    /// Number of its first event, from 1.
    package var firstEvent: UInt64
    /// `open` events in it.
    package var opens: UInt32
    /// The first new connection's number; 0: none.
    package var firstConnection: UInt32

    package init(
        size: UInt32 = 0, events: UInt32, firstTime: UInt64, firstEvent: UInt64, opens: UInt32, firstConnection: UInt32
    ) {
        self.size = size
        self.events = events
        self.firstTime = firstTime
        self.firstEvent = firstEvent
        self.opens = opens
        self.firstConnection = firstConnection
    }

    /// Bytes of a member's header that holds the field.
    package static let headerSize = 48

    /// Appends the header of a gzip member that has the field (RFC 1952, 2.3.1).
    package func appendHeader(into out: inout [UInt8]) {
        out += [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 36, 0, UInt8(ascii: "T"), UInt8(ascii: "D"), 32, 0]
        out.append(littleEndian: size)
        out.append(littleEndian: events)
        out.append(littleEndian: firstTime)
        out.append(littleEndian: firstEvent)
        out.append(littleEndian: opens)
        out.append(littleEndian: firstConnection)
    }

    /// The field of the member that begins at `bytes[at]`; nil when the 48 bytes are not all there, are not the header of
    /// a gzip member, or have no such field. The field is also found behind other fields.
    package init?(header bytes: Span<UInt8>, at: Int) {
        guard at >= 0, bytes.count >= 12, at <= bytes.count - 12, bytes[at] == 0x1f, bytes[at + 1] == 0x8b,
            bytes[at + 2] == 8, bytes[at + 3] & 4 != 0
        else { return nil }
        let end = at + 12 + Int(bytes.littleEndian(UInt16.self, at: at + 10))
        var field = at + 12
        while field + 4 <= min(end, bytes.count) {
            let length = Int(bytes.littleEndian(UInt16.self, at: field + 2))
            let body = field + 4
            guard body + length <= min(end, bytes.count) else { return nil }
            if bytes[field] == UInt8(ascii: "T"), bytes[field + 1] == UInt8(ascii: "D"), length == 32 {
                size = bytes.littleEndian(UInt32.self, at: body)
                events = bytes.littleEndian(UInt32.self, at: body + 4)
                firstTime = bytes.littleEndian(UInt64.self, at: body + 8)
                firstEvent = bytes.littleEndian(UInt64.self, at: body + 16)
                opens = bytes.littleEndian(UInt32.self, at: body + 24)
                firstConnection = bytes.littleEndian(UInt32.self, at: body + 28)
                return
            }
            field = body + length
        }
        return nil
    }
}
