internal import WiretapeBytes

/// Writes packets of made-up TCP connections over IPv4 as a pcapng file (draft-ietf-opsawg-pcapng, link type RAW), with the times
/// in nanoseconds.
struct PcapngFile {
    static let syn: UInt8 = 0x02
    static let fin: UInt8 = 0x01
    static let rst: UInt8 = 0x04
    static let psh: UInt8 = 0x08
    static let ack: UInt8 = 0x10

    struct Address: Hashable {
        var ip: UInt32
        var port: UInt16
    }

    private var identification: UInt16 = 0
    private(set) var bytes: [UInt8] = []

    init(tool: String, comment: String) {
        var options: [UInt8] = []
        PcapngFile.option(1, comment, &options)
        PcapngFile.option(4, tool, &options)
        PcapngFile.option(0, "", &options)
        var body: [UInt8] = []
        for word in [0x1a2b_3c4d, 0x0000_0001] as [UInt32] { body.append(littleEndian: word) }
        body.append(littleEndian: UInt64.max)
        block(0x0a0d_0d0a, body + options)
        // One interface: raw IP, no snap length, nanoseconds.
        var interface: [UInt8] = []
        interface.append(littleEndian: UInt16(101))
        interface.append(littleEndian: UInt16(0))
        interface.append(littleEndian: UInt32(0))
        interface += [9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]
        block(1, interface)
    }

    mutating func take() -> [UInt8] {
        let taken = bytes
        bytes = []
        return taken
    }

    /// Adds a segment.
    /// - Parameter time: nanoseconds since 1970.
    mutating func segment(
        from: Address, to: Address, sequence: UInt32, acknowledges: UInt32, flags: UInt8, _ payload: Span<UInt8>,
        at time: UInt64, comment: String? = nil
    ) {
        var tcp: [UInt8] = []
        PcapngFile.big(from.port, &tcp)
        PcapngFile.big(to.port, &tcp)
        PcapngFile.big(sequence, &tcp)
        PcapngFile.big(flags & PcapngFile.ack == 0 ? 0 : acknowledges, &tcp)
        tcp += [0x50, flags, 0xff, 0xff, 0, 0, 0, 0]
        tcp.append(copying: payload)
        var pseudo: UInt32 = 6 + UInt32(tcp.count)
        for ip in [from.ip, to.ip] { pseudo += ip >> 16 + ip & 0xffff }
        let sum = PcapngFile.checksum(tcp, pseudo)
        tcp[16] = UInt8(sum >> 8)
        tcp[17] = UInt8(truncatingIfNeeded: sum)
        identification &+= 1
        var packet: [UInt8] = [0x45, 0]
        PcapngFile.big(UInt16(truncatingIfNeeded: 20 + tcp.count), &packet)
        PcapngFile.big(identification, &packet)
        packet += [0x40, 0, 64, 6, 0, 0]
        PcapngFile.big(from.ip, &packet)
        PcapngFile.big(to.ip, &packet)
        let own = PcapngFile.checksum(packet, 0)
        packet[10] = UInt8(own >> 8)
        packet[11] = UInt8(truncatingIfNeeded: own)
        packet += tcp
        self.packet(packet, at: time, comment: comment)
    }

    private mutating func packet(_ packet: [UInt8], at time: UInt64, comment: String?) {
        var body: [UInt8] = []
        body.append(littleEndian: UInt32(0))
        body.append(littleEndian: UInt32(time >> 32))
        body.append(littleEndian: UInt32(truncatingIfNeeded: time))
        body.append(littleEndian: UInt32(packet.count))
        body.append(littleEndian: UInt32(packet.count))
        body += packet
        PcapngFile.pad(&body)
        if let comment {
            PcapngFile.option(1, comment, &body)
            PcapngFile.option(0, "", &body)
        }
        block(6, body)
    }

    private mutating func block(_ type: UInt32, _ body: [UInt8]) {
        let length = UInt32(12 + body.count)
        bytes.append(littleEndian: type)
        bytes.append(littleEndian: length)
        bytes += body
        bytes.append(littleEndian: length)
    }

    private static func option(_ code: UInt16, _ text: String, _ out: inout [UInt8]) {
        let value = Array(text.utf8.prefix(4_096))
        out.append(littleEndian: code)
        out.append(littleEndian: UInt16(value.count))
        out += value
        pad(&out)
    }

    private static func pad(_ out: inout [UInt8]) { while out.count % 4 != 0 { out.append(0) } }

    private static func big(_ value: UInt16, _ out: inout [UInt8]) {
        out += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
    }

    private static func big(_ value: UInt32, _ out: inout [UInt8]) {
        big(UInt16(value >> 16), &out)
        big(UInt16(truncatingIfNeeded: value), &out)
    }

    /// Of RFC 1071.
    private static func checksum(_ bytes: [UInt8], _ start: UInt32) -> UInt16 {
        var sum = start
        var i = 0
        while i + 1 < bytes.count {
            sum += UInt32(bytes[i]) << 8 | UInt32(bytes[i + 1])
            i += 2
        }
        if i < bytes.count { sum += UInt32(bytes[i]) << 8 }
        while sum > 0xffff { sum = sum >> 16 + sum & 0xffff }
        return ~UInt16(sum)
    }
}
