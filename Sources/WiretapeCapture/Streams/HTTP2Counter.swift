internal import WiretapeBytes
internal import WiretapePackets

/// Counts the streams of an HTTP/2 connection from what its client says (RFC 9113 section 4.1). Nothing of it is decoded.
struct HTTP2Counter {
    /// Streams that the client opened.
    private(set) var streams = 0
    private var lastStream: UInt32 = 0
    private var head: [UInt8] = []
    /// Bytes to pass over: the preface first.
    private var skipping = UInt64(MessageStart.preface.count)
    private var isLost = false

    mutating func received(_ bytes: Span<UInt8>) {
        guard !isLost else { return }
        var at = 0
        while at < bytes.count {
            if skipping > 0 {
                let step = Int(min(skipping, UInt64(bytes.count - at)))
                skipping -= UInt64(step)
                at += step
                continue
            }
            head.append(bytes[at])
            at += 1
            guard head.count == 9 else { continue }
            skipping = UInt64(head[0]) << 16 | UInt64(head[1]) << 8 | UInt64(head[2])
            let stream = head.span.network(UInt32.self, at: 5) & 0x7fff_ffff
            if head[3] == 1, stream > lastStream {
                streams += 1
                lastStream = stream
            }
            head = []
        }
    }

    mutating func missed(_ count: UInt64?) {
        if let count, count <= skipping { skipping -= count } else { isLost = true }
    }
}
