internal import WiretapeBytes

/// The header of an IPv4 or IPv6 packet, extension headers included: who, to whom, and where its content stands.
package struct IPPacket {
    package var source: IPAddress
    package var destination: IPAddress
    /// Of what it carries: 6 is TCP.
    package var transport: UInt8
    /// The content that was captured.
    package var content: Range<Int>
    /// Bytes of content that the packet had.
    package var length: Int
    package var fragment: Fragment?

    /// Where a fragment belongs.
    package struct Fragment {
        var identification: UInt32
        var offset: Int
        var isLast: Bool
    }

    package static let tcp: UInt8 = 6

    /// Nil for what is no IP packet or whose header was not captured whole.
    /// - Parameter bytes: from the packet's first byte on.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= 20 else { return nil }
        switch bytes[0] >> 4 {
        case 4: self.init(v4: bytes)
        case 6: self.init(v6: bytes)
        default: return nil
        }
    }

    private init?(v4 bytes: Span<UInt8>) {
        let head = Int(bytes[0] & 0x0f) * 4
        guard head >= 20, bytes.count >= head else { return nil }
        // 0: the network card cuts the packet later.
        let told = Int(bytes.network(UInt16.self, at: 2))
        let total = told == 0 ? bytes.count : told
        guard total >= head else { return nil }
        source = IPAddress(v4: bytes.network(UInt32.self, at: 12))
        destination = IPAddress(v4: bytes.network(UInt32.self, at: 16))
        transport = bytes[9]
        content = head..<min(bytes.count, total)
        length = total - head
        let flags = bytes.network(UInt16.self, at: 6)
        let offset = Int(flags & 0x1fff) * 8
        if offset > 0 || flags & 0x2000 != 0 {
            fragment = Fragment(
                identification: UInt32(bytes.network(UInt16.self, at: 4)), offset: offset, isLast: flags & 0x2000 == 0)
        }
    }

    private init?(v6 bytes: Span<UInt8>) {
        guard bytes.count >= 40 else { return nil }
        source = IPAddress(v6: bytes, at: 8)
        destination = IPAddress(v6: bytes, at: 24)
        let told = Int(bytes.network(UInt16.self, at: 4))
        // 0: a jumbogram, or cut later.
        let end = told == 0 ? bytes.count : 40 + told
        transport = bytes[6]
        var at = 40
        // The extension headers of RFC 8200: each names what follows it.
        while true {
            switch transport {
            case 0, 43, 60, 135, 139, 140:
                guard bytes.count >= at + 8 else { return nil }
                transport = bytes[at]
                at += (Int(bytes[at + 1]) + 1) * 8
            case 51:
                guard bytes.count >= at + 8 else { return nil }
                transport = bytes[at]
                at += (Int(bytes[at + 1]) + 2) * 4
            case 44:
                guard bytes.count >= at + 8 else { return nil }
                transport = bytes[at]
                let place = bytes.network(UInt16.self, at: at + 2)
                let offset = Int(place & 0xfff8)
                if offset > 0 || place & 1 != 0 {
                    fragment = Fragment(
                        identification: bytes.network(UInt32.self, at: at + 4), offset: offset, isLast: place & 1 == 0)
                }
                at += 8
            default:
                guard at <= min(end, bytes.count) else { return nil }
                content = at..<min(end, bytes.count)
                length = end - at
                return
            }
            // Behind a fragment's header stands a part of the original packet, extension headers of it among them only in the
            // first one: they are read when it is whole.
            if fragment != nil {
                guard at <= min(end, bytes.count) else { return nil }
                content = at..<min(end, bytes.count)
                length = end - at
                return
            }
        }
    }
}
