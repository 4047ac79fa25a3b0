package import WiretapePackets

/// A file of another tool, which is read twice, and the files beside it. The command has the files; this module has none.
package protocol ForeignSource: AnyObject {
    /// Bytes in it.
    var size: UInt64 { get }

    /// Appends at most `limit` bytes from `offset` on.
    /// - Returns: how many came; 0 at the end.
    func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(CaptureFault) -> Int

    /// A file that the archive names, in the archive or beside it; nil when there is none.
    func side(_ name: String, limit: Int) throws(CaptureFault) -> [UInt8]?
}

extension ForeignSource {
    /// Exactly these bytes.
    func bytes(at offset: UInt64, count: Int) throws(CaptureFault) -> [UInt8] {
        var out: [UInt8] = []
        while out.count < count {
            let (at, isOver) = offset.addingReportingOverflow(UInt64(out.count))
            guard !isOver, try read(at: at, limit: count - out.count, into: &out) > 0 else {
                throw CaptureFault(offset: offset, reason: "the file became shorter while it was read")
            }
        }
        return out
    }
}

/// Bytes in memory: what came from standard input, and what stood in a ZIP file.
package final class ForeignMemory: ForeignSource {
    private let bytes: [UInt8]
    private let beside: (String, Int) throws(CaptureFault) -> [UInt8]?

    /// - Parameter beside: gives the files that the archive names.
    package init(
        _ bytes: [UInt8],
        beside: @escaping (String, Int) throws(CaptureFault) -> [UInt8]? = { _, _ throws(CaptureFault) in nil }
    ) {
        self.bytes = bytes
        self.beside = beside
    }

    package var size: UInt64 { UInt64(bytes.count) }

    package func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(CaptureFault) -> Int {
        let from = Int(clamping: offset)
        guard from < bytes.count else { return 0 }
        let end = min(bytes.count, from + max(0, limit))
        out.append(contentsOf: bytes[from..<end])
        return end - from
    }

    package func side(_ name: String, limit: Int) throws(CaptureFault) -> [UInt8]? { try beside(name, limit) }
}
