internal import WiretapeBytes

/// Bytes that come in at the end and leave at the front.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var head = 0

    var count: Int { bytes.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ span: Span<UInt8>) { bytes.append(copying: span) }

    /// The first `n` bytes, which must be there.
    mutating func take(_ n: Int) -> [UInt8] {
        let piece = Array(bytes[head..<head + n])
        head += n
        if head == bytes.count {
            removeAll()
        } else if head > 65_536, head * 2 > bytes.count {
            bytes.removeFirst(head)
            head = 0
        }
        return piece
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        head = 0
    }
}
