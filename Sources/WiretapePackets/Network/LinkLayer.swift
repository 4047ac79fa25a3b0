internal import WiretapeBytes

/// What a packet carries behind its link's header.
package enum LinkPayload: Equatable {
    /// An IP packet of either version, from here on.
    case ip(at: Int)
    /// Something else: ARP, spanning tree, …
    case other
    /// A header that is not whole.
    case cut
    /// A link type that is not understood: its number.
    case unknown(UInt32)
}

/// The links that captures are made on. Numbers are those of tcpdump.org's list of link types.
package enum LinkLayer {
    private enum EtherType {
        static let ipv4: UInt16 = 0x0800
        static let ipv6: UInt16 = 0x86dd
        /// VLAN tags, also two of them.
        static let tags: [UInt16] = [0x8100, 0x88a8, 0x9100, 0x9200]
    }

    /// Where the IP packet of a captured packet begins.
    package static func payload(_ bytes: Span<UInt8>, link: UInt32) -> LinkPayload {
        switch link {
        case 0: return null(bytes)
        case 108: return null(bytes)
        case 1: return ethernet(bytes, typeAt: 12)
        case 12, 14, 101: return ip(bytes, at: 0)
        case 228, 229: return ip(bytes, at: 0)
        case 113: return ethernet(bytes, typeAt: 14)
        case 276:
            guard bytes.count >= 20 else { return .cut }
            let type = bytes.network(UInt16.self, at: 0)
            // A tag's number of the network stands before the next type.
            return EtherType.tags.contains(type) ? ethernet(bytes, typeAt: 22) : etherType(type, bytes, at: 20)
        default: return .unknown(link)
        }
    }

    /// What is told of a link type that is not understood.
    package static func describe(_ link: UInt32) -> String {
        switch link {
        case 105, 119, 127, 163:
            "802.11 (link type \(link)): encrypted wireless frames; capture on the host itself instead"
        default: "link type \(link)"
        }
    }

    /// BSD's loopback: the address family in four bytes, in the order of the machine that captured (or in the network's).
    private static func null(_ bytes: Span<UInt8>) -> LinkPayload {
        guard bytes.count >= 4 else { return .cut }
        let family = bytes.littleEndian(UInt32.self, at: 0)
        let known: [UInt32] = [2, 10, 24, 28, 30]
        return known.contains(family) || known.contains(family.byteSwapped) ? ip(bytes, at: 4) : .other
    }

    private static func ethernet(_ bytes: Span<UInt8>, typeAt: Int) -> LinkPayload {
        var at = typeAt
        // More tags than these are nobody's network.
        for _ in 0..<4 {
            guard bytes.count >= at + 2 else { return .cut }
            let type = bytes.network(UInt16.self, at: at)
            guard EtherType.tags.contains(type) else { return etherType(type, bytes, at: at + 2) }
            at += 4
        }
        return .other
    }

    private static func etherType(_ type: UInt16, _ bytes: Span<UInt8>, at: Int) -> LinkPayload {
        type == EtherType.ipv4 || type == EtherType.ipv6 ? ip(bytes, at: at) : .other
    }

    private static func ip(_ bytes: Span<UInt8>, at: Int) -> LinkPayload {
        guard bytes.count > at else { return .cut }
        return bytes[at] >> 4 == 4 || bytes[at] >> 4 == 6 ? .ip(at: at) : .other
    }
}
