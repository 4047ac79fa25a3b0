internal import WiretapeBytes

/// The header of a TCP segment, and where its data stands.
package struct TCPSegment {
    package var source: UInt16
    package var destination: UInt16
    var sequence: UInt32
    var acknowledgement: UInt32
    private var flags: UInt8
    /// The data that was captured.
    package var data: Range<Int>
    /// Bytes of data that the segment had.
    var length: Int

    /// Nil when the header was not captured whole.
    /// - Parameters:
    ///   - bytes: from the segment's first byte on.
    ///   - total: bytes that the segment had, its header among them.
    package init?(_ bytes: Span<UInt8>, total: Int) {
        guard bytes.count >= 20 else { return nil }
        let head = Int(bytes[12] >> 4) * 4
        guard head >= 20, total >= head else { return nil }
        source = bytes.network(UInt16.self, at: 0)
        destination = bytes.network(UInt16.self, at: 2)
        sequence = bytes.network(UInt32.self, at: 4)
        acknowledgement = bytes.network(UInt32.self, at: 8)
        flags = bytes[13]
        // The options may have been cut away.
        let start = min(head, bytes.count)
        data = start..<min(bytes.count, total)
        length = total - head
        if start < head { data = start..<start }
    }

    var isFin: Bool { flags & 0x01 != 0 }
    var isSyn: Bool { flags & 0x02 != 0 }
    var isReset: Bool { flags & 0x04 != 0 }
    var acknowledges: Bool { flags & 0x10 != 0 }
}
