/// What a capture file holds next.
package enum CaptureItem: Equatable {
    /// Its bytes are ``CaptureReader/bytes`` at `range`.
    case packet(CapturedPacket)
    /// A key log that is in the file (a decryption secrets block with TLS keys), at this range of ``CaptureReader/bytes``.
    case secrets(Range<Int>)
    /// Nothing whole is there; more bytes are needed.
    case more
    /// From here on the file cannot be read. Said again on every further call.
    case bad(CaptureFault)
}

/// A packet as it was captured.
package struct CapturedPacket: Equatable {
    /// The link type of its interface, a number of tcpdump.org's list.
    package var link: UInt32
    /// Nanoseconds since 1970-01-01 00:00 UTC. A packet without a time has that of the one before.
    package var time: UInt64
    package var range: Range<Int>
    /// Bytes that the packet had; the capture may hold fewer of them.
    package var length: Int

    package init(link: UInt32, time: UInt64, range: Range<Int>, length: Int) {
        self.link = link
        self.time = time
        self.range = range
        self.length = length
    }
}

/// Why a capture cannot be read on.
package struct CaptureFault: Error, Hashable {
    /// Where in the file, in bytes from its start.
    package var offset: UInt64
    /// A sentence without its full stop.
    package var reason: String

    package init(offset: UInt64, reason: String) {
        self.offset = offset
        self.reason = reason
    }
}
