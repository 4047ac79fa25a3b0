internal import WiretapeBytes

/// Classic pcap files: one header, one link type, then a record a packet. Times in micro- or nanoseconds, both byte orders, and
/// the records of Kuznetzov's libpcap, which are longer.
struct PcapFormat {
    private let isSwapped: Bool
    private let nanosecondsPerTick: UInt64
    private let recordHead: Int
    private var link: UInt32 = 0

    /// Nil when `bytes`, the file's first four or more, begin no pcap file. The file header is 24 bytes.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= 4 else { return nil }
        let magic = bytes.littleEndian(UInt32.self, at: 0)
        switch magic {
        case 0xa1b2_c3d4, 0xd4c3_b2a1: (nanosecondsPerTick, recordHead) = (1000, 16)
        case 0xa1b2_3c4d, 0x4d3c_b2a1: (nanosecondsPerTick, recordHead) = (1, 16)
        case 0xa1b2_cd34, 0x34cd_b2a1: (nanosecondsPerTick, recordHead) = (1000, 24)
        default: return nil
        }
        isSwapped = magic & 0xff == 0xa1
        // The upper bits tell of frame check sequences.
        if bytes.count >= 24 { link = bytes.integer(UInt32.self, at: 20, isSwapped: isSwapped) & 0x03ff_ffff }
    }

    /// The record at the beginning of `bytes`, whose first byte is at `at` in the reader's.
    mutating func next(_ bytes: Span<UInt8>, at: Int) -> CaptureStep {
        guard bytes.count >= recordHead else { return .more }
        let seconds = bytes.integer(UInt32.self, at: 0, isSwapped: isSwapped)
        let ticks = bytes.integer(UInt32.self, at: 4, isSwapped: isSwapped)
        let captured = Int(bytes.integer(UInt32.self, at: 8, isSwapped: isSwapped))
        let length = Int(bytes.integer(UInt32.self, at: 12, isSwapped: isSwapped))
        guard captured <= CaptureReader.mostBytes else {
            return .bad("a packet of \(captured) bytes: the file is damaged here")
        }
        guard bytes.count - recordHead >= captured else { return .more }
        let start = at + recordHead
        let packet = CapturedPacket(
            link: link, time: UInt64(seconds) * 1_000_000_000 + UInt64(ticks) * nanosecondsPerTick,
            range: start..<start + captured, length: max(length, captured))
        return .item(.packet(packet), size: recordHead + captured)
    }
}
