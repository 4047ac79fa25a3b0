internal import WiretapeBytes

/// Puts fragments of IP packets together. Where they overlap, what came first stays.
///
/// Memory: at most ``mostBytes`` of at most ``mostPackets``; what waits longest goes first.
package struct FragmentTable {
    static let mostBytes = 4 << 20
    /// Packets that wait for their fragments at a time.
    static let mostPackets = 1024
    /// Nanoseconds that a packet waits for its fragments.
    static let patience: UInt64 = 30_000_000_000
    /// No IP packet is longer.
    static let longest = 65535

    private struct Key: Hashable {
        var source: IPAddress
        var destination: IPAddress
        var identification: UInt32
        var transport: UInt8
    }

    private struct Gathering {
        var since: UInt64
        /// In order, without overlaps.
        var pieces: [(offset: Int, bytes: [UInt8])] = []
        var size: Int?
        var count: Int { pieces.reduce(0) { $0 + $1.bytes.count } }
    }

    private var waiting: [Key: Gathering] = [:]
    private var order: [Key] = []
    private var held = 0

    /// Packets whose fragments did not all come.
    package private(set) var lost = 0

    package init() {}

    /// Packets that still wait.
    package var unfinished: Int { waiting.count }

    /// Takes a fragment.
    /// - Returns: the content of the packet when it is whole now.
    package mutating func take(_ packet: IPPacket, _ part: IPPacket.Fragment, _ bytes: Span<UInt8>, at time: UInt64)
        -> [UInt8]?
    {
        expire(at: time)
        let end = part.offset + packet.length
        // A fragment that was cut short when it was captured makes no packet whole.
        guard bytes.count == packet.length, end <= FragmentTable.longest, !bytes.isEmpty else { return nil }
        let key = Key(
            source: packet.source, destination: packet.destination, identification: part.identification,
            transport: packet.transport)
        if waiting[key] == nil {
            waiting[key] = Gathering(since: time)
            order.append(key)
        }
        guard var gathering = waiting[key] else { return nil }
        held -= gathering.count
        if part.isLast, gathering.size == nil { gathering.size = end }
        FragmentTable.insert(bytes, at: part.offset, into: &gathering.pieces)
        held += gathering.count
        waiting[key] = gathering
        if let size = gathering.size, gathering.count >= size {
            remove(key)
            return gathering.pieces.flatMap { $0.bytes }
        }
        while held > FragmentTable.mostBytes || order.count > FragmentTable.mostPackets, let oldest = order.first {
            lost += 1
            remove(oldest)
        }
        return nil
    }

    /// Adds what of `bytes` is new.
    private static func insert(_ bytes: Span<UInt8>, at offset: Int, into pieces: inout [(offset: Int, bytes: [UInt8])])
    {
        var from = offset
        let end = offset + bytes.count
        var fresh: [(offset: Int, bytes: [UInt8])] = []
        for piece in pieces where piece.offset < end && piece.offset + piece.bytes.count > from {
            if piece.offset > from {
                fresh.append((from, [UInt8](copying: bytes.extracting(from - offset..<piece.offset - offset))))
            }
            from = piece.offset + piece.bytes.count
        }
        if from < end { fresh.append((from, [UInt8](copying: bytes.extracting((from - offset)...)))) }
        pieces += fresh
        pieces.sort { $0.offset < $1.offset }
    }

    private mutating func expire(at time: UInt64) {
        while let oldest = order.first, let gathering = waiting[oldest],
            time > gathering.since, time - gathering.since > FragmentTable.patience
        {
            lost += 1
            remove(oldest)
        }
    }

    private mutating func remove(_ key: Key) {
        guard let old = waiting.removeValue(forKey: key) else { return }
        held -= old.count
        if let at = order.firstIndex(of: key) { order.remove(at: at) }
    }
}
