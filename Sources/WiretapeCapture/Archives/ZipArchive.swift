internal import WiretapeBytes
package import WiretapePackets

/// Reads files out of a ZIP file (APPNOTE.TXT of PKWARE, stored and deflated entries, also of ZIP64). Its directory is read at
/// once; the files when they are asked for.
package final class ZipArchive: ForeignSource {
    private struct Entry {
        var offset: UInt64
        var packed: UInt64
        var size: UInt64
        var method: UInt16
    }

    private let file: any ForeignSource
    private var entries: [String: Entry] = [:]
    private let inner: ForeignMemory?

    private static let mostDirectory: UInt64 = 64 << 20

    /// Finds the HAR in it: `har.har`, or the only one that is there.
    /// - Parameter memory: what the HAR may take.
    package init(_ file: any ForeignSource, memory: Int) throws(CaptureFault) {
        self.file = file
        let entries = try ZipArchive.directory(of: file)
        let hars = entries.keys.filter { $0.hasSuffix(".har") }.sorted()
        let name = entries["har.har"] == nil ? hars.first : "har.har"
        guard let name, hars.count == 1 || name == "har.har", let entry = entries[name] else {
            throw CaptureFault(
                offset: 0,
                reason: hars.isEmpty
                    ? "there is no .har in this ZIP file" : "there are several .har files in this ZIP file")
        }
        self.entries = entries
        inner = ForeignMemory(try ZipArchive.content(of: entry, name, in: file, limit: memory))
    }

    package var size: UInt64 { inner?.size ?? 0 }

    package func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(CaptureFault) -> Int {
        try inner?.read(at: offset, limit: limit, into: &out) ?? 0
    }

    package func side(_ name: String, limit: Int) throws(CaptureFault) -> [UInt8]? {
        guard let entry = entries[name] ?? entries["resources/" + name] else { return nil }
        return try ZipArchive.content(of: entry, name, in: file, limit: limit)
    }

    private static func directory(of file: any ForeignSource) throws(CaptureFault) -> [String: Entry] {
        let size = file.size
        let count = Int(min(size, 65_536 + 42))
        let start = size - UInt64(count)
        let tail = try file.bytes(at: start, count: count)
        let bytes = tail.span
        var at = count - 22
        while at >= 0, bytes.littleEndian(UInt32.self, at: at) != 0x0605_4b50 { at -= 1 }
        guard at >= 0 else { throw CaptureFault(offset: start, reason: "no ZIP file, or its end is missing") }
        var length = UInt64(bytes.littleEndian(UInt32.self, at: at + 12))
        var offset = UInt64(bytes.littleEndian(UInt32.self, at: at + 16))
        if offset == 0xffff_ffff, at >= 20, bytes.littleEndian(UInt32.self, at: at - 20) == 0x0706_4b50 {
            let place = bytes.littleEndian(UInt64.self, at: at - 12)
            guard place < size, size - place >= 56 else {
                throw CaptureFault(offset: start + UInt64(at), reason: "the ZIP file's end points outside of it")
            }
            let big = try file.bytes(at: place, count: 56)
            length = big.span.littleEndian(UInt64.self, at: 40)
            offset = big.span.littleEndian(UInt64.self, at: 48)
        }
        guard length <= mostDirectory, offset <= size, length <= size - offset else {
            throw CaptureFault(offset: start + UInt64(at), reason: "the ZIP file's directory is not where its end says")
        }
        return entries(try file.bytes(at: offset, count: Int(length)))
    }

    private static func entries(_ directory: [UInt8]) -> [String: Entry] {
        let bytes = directory.span
        var found: [String: Entry] = [:]
        var at = 0
        while at + 46 <= bytes.count, bytes.littleEndian(UInt32.self, at: at) == 0x0201_4b50 {
            let nameLength = Int(bytes.littleEndian(UInt16.self, at: at + 28))
            let extraLength = Int(bytes.littleEndian(UInt16.self, at: at + 30))
            let commentLength = Int(bytes.littleEndian(UInt16.self, at: at + 32))
            let end = at + 46 + nameLength + extraLength + commentLength
            guard end <= bytes.count else { return found }
            var entry = Entry(
                offset: UInt64(bytes.littleEndian(UInt32.self, at: at + 42)),
                packed: UInt64(bytes.littleEndian(UInt32.self, at: at + 20)),
                size: UInt64(bytes.littleEndian(UInt32.self, at: at + 24)),
                method: bytes.littleEndian(UInt16.self, at: at + 10))
            let extra = bytes.extracting(at + 46 + nameLength..<at + 46 + nameLength + extraLength)
            widen(&entry, extra)
            found[String(decoding: directory[at + 46..<at + 46 + nameLength], as: UTF8.self)] = entry
            at = end
        }
        return found
    }

    /// The numbers of ZIP64 that stand in an extra field, in this order, where the short ones are all ones.
    private static func widen(_ entry: inout Entry, _ extra: Span<UInt8>) {
        var at = 0
        while at + 4 <= extra.count {
            let length = Int(extra.littleEndian(UInt16.self, at: at + 2))
            guard at + 4 + length <= extra.count else { return }
            if extra.littleEndian(UInt16.self, at: at) == 1 {
                var i = at + 4
                for field in [\Entry.size, \Entry.packed, \Entry.offset] where entry[keyPath: field] == 0xffff_ffff {
                    guard i + 8 <= at + 4 + length else { return }
                    entry[keyPath: field] = extra.littleEndian(UInt64.self, at: i)
                    i += 8
                }
            }
            at += 4 + length
        }
    }

    private static func content(
        of entry: Entry, _ name: String, in file: any ForeignSource, limit: Int
    ) throws(CaptureFault) -> [UInt8] {
        func fault(_ reason: String) -> CaptureFault {
            CaptureFault(offset: entry.offset, reason: "\(name): \(reason)")
        }
        guard entry.size <= UInt64(limit), entry.packed <= UInt64(limit) else {
            throw fault("it has \(ByteSize.text(Int(clamping: entry.size))), which takes more than --memory allows")
        }
        guard entry.offset < file.size, file.size - entry.offset >= 30 else { throw fault("it is not in the ZIP file") }
        let head = try file.bytes(at: entry.offset, count: 30)
        guard head.span.littleEndian(UInt32.self, at: 0) == 0x0403_4b50 else {
            throw fault("it does not begin where it should")
        }
        let skipped =
            UInt64(head.span.littleEndian(UInt16.self, at: 26)) + UInt64(head.span.littleEndian(UInt16.self, at: 28))
        let start = entry.offset + 30 + skipped
        guard start <= file.size, entry.packed <= file.size - start else { throw fault("the ZIP file ends within it") }
        let packed = try file.bytes(at: start, count: Int(entry.packed))
        switch entry.method {
        case 0: return packed
        case 8:
            var inflater = Inflater(.raw(windowBits: 15))
            var out: [UInt8] = []
            var used = 0
            let outcome = inflater.feed(packed.span, used: &used, limit: Int(entry.size) + 1, into: &out)
            guard case .end = outcome, out.count == Int(entry.size) else { throw fault("it cannot be inflated") }
            return out
        default: throw fault("it is packed in a way that is not read (\(entry.method))")
        }
    }
}
