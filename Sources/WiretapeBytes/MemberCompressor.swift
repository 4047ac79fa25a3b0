internal import CWiretapeLibdeflate

// Lifetime: the compressor is freed in `deinit`, or when another level takes its place; input and output are lent for
// one call.

/// Makes whole gzip members (RFC 1952) with the extra field of tapes. One per writer: it keeps the tables of the last
/// level. Level 0 stores, 1 to 12 are libdeflate's.
@safe package struct MemberCompressor: ~Copyable {
    private var tables: OpaquePointer?
    private var level = 0

    package init() {
        unsafe tables = nil
    }

    deinit {
        if let tables = unsafe tables { unsafe libdeflate_free_compressor(tables) }
    }

    /// A member of more than ``freely`` bytes of lines that is smaller than a ``ratio``th of them is taken for a bomb by
    /// readers: lines of events come to 60, rarely to 200.
    package static let ratio = 600
    package static let freely = 16 << 20

    /// Appends one member that holds `lines`. `info.size` is not looked at. A level outside 0…12 counts as the nearest;
    /// where there is no memory for a level's tables, the member is stored. Of lines that would become so small that readers
    /// refuse them the beginning is stored.
    package mutating func append(_ lines: Span<UInt8>, info: MemberInfo, level: Int, into out: inout [UInt8]) {
        let start = out.count
        info.appendHeader(into: &out)
        if level > 0, let compressor = unsafe compressor(min(12, level)) {
            let before = out.count
            unsafe deflate(lines, compressor, into: &out)
            if lines.count > MemberCompressor.freely, lines.count / (out.count - before) >= MemberCompressor.ratio / 2 {
                out.removeSubrange(before...)
                let stored = lines.count / (MemberCompressor.ratio / 2) + 1
                MemberCompressor.store(lines.extracting(..<stored), isLast: false, into: &out)
                unsafe deflate(lines.extracting(stored...), compressor, into: &out)
            }
            // Only with no room at all, which the bound rules out: then it is stored.
            if out.count == before { MemberCompressor.store(lines, isLast: true, into: &out) }
        } else {
            MemberCompressor.store(lines, isLast: true, into: &out)
        }
        out.append(littleEndian: MemberCompressor.crc(lines))
        out.append(littleEndian: UInt32(truncatingIfNeeded: lines.count))
        let size = UInt32(truncatingIfNeeded: out.count - start)
        for i in 0..<4 { out[start + 16 + i] = UInt8(truncatingIfNeeded: size >> UInt32(8 * i)) }
    }

    /// CRC-32 as gzip uses it.
    package static func crc(_ bytes: Span<UInt8>) -> UInt32 {
        unsafe bytes.withUnsafeBufferPointer { unsafe libdeflate_crc32(0, $0.baseAddress, $0.count) }
    }

    /// The compressor for `wanted`, made now unless the last member had the same level.
    private mutating func compressor(_ wanted: Int) -> OpaquePointer? {
        if let tables = unsafe tables {
            if wanted == level { return unsafe tables }
            unsafe libdeflate_free_compressor(tables)
        }
        unsafe tables = libdeflate_alloc_compressor(Int32(wanted))
        level = wanted
        return unsafe tables
    }

    private func deflate(_ lines: Span<UInt8>, _ compressor: OpaquePointer, into out: inout [UInt8]) {
        unsafe lines.withUnsafeBufferPointer { bytes in
            let bound = unsafe libdeflate_deflate_compress_bound(compressor, bytes.count)
            out.append(addingCapacity: bound) { free in
                unsafe free.withUnsafeMutableBufferPointer { room, filled in
                    guard let base = room.baseAddress else { return }
                    filled += unsafe libdeflate_deflate_compress(
                        compressor, bytes.baseAddress, bytes.count, base + filled, room.count - filled)
                }
            }
        }
    }

    /// Stored blocks (RFC 1951, 3.2.4): at least one, at most 65,535 bytes each.
    /// - Parameter isLast: whether no block follows.
    private static func store(_ lines: Span<UInt8>, isLast: Bool, into out: inout [UInt8]) {
        var at = 0
        repeat {
            let count = min(lines.count - at, 0xffff)
            out.append(isLast && at + count == lines.count ? 1 : 0)
            out.append(littleEndian: UInt16(count))
            out.append(littleEndian: ~UInt16(count))
            out.append(copying: lines.extracting(at..<at + count))
            at += count
        } while at < lines.count
    }
}
