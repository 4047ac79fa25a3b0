internal import WiretapeBytes
package import WiretapeSystem

/// The bytes of a tape's file, or of memory, read in pieces and looked at where they lie.
package struct TapeInput: ~Copyable {
    private enum Source: ~Copyable {
        case file(File)
        case memory([UInt8])
    }

    /// The path, or a name for memory.
    package let name: String
    private let source: Source
    /// What was read and not yet used, from `used` on.
    package private(set) var buffer: [UInt8] = []
    package private(set) var used = 0
    /// File offset behind the buffer.
    private var end: UInt64 = 0

    private static let step = 64 << 10

    package init(path: String, in files: any FileSystem) throws(TapeError) {
        name = path
        do {
            source = .file(try File.reading(path, in: files))
        } catch {
            throw TapeError(.unreadable, file: path, "cannot be opened: \(error.reason)")
        }
    }

    package init(_ bytes: [UInt8], name: String) {
        self.name = name
        source = .memory(bytes)
    }

    /// File offset of the first byte that is not used.
    package var offset: UInt64 { end - UInt64(buffer.count - used) }

    /// Bytes in the file now; it may grow.
    package var size: UInt64 {
        switch source {
        case .file(let file): file.size
        case .memory(let bytes): UInt64(bytes.count)
        }
    }

    /// Bytes that can be looked at.
    var available: Int { buffer.count - used }

    mutating func use(_ count: Int) { used += count }

    /// Reads on until `count` bytes can be looked at.
    /// - Returns: false when the file ends before.
    package mutating func fill(_ count: Int) throws(TapeError) -> Bool {
        while available < count { if try !more() { return false } }
        return true
    }

    /// Reads on, at most 64 KiB. False at the end of the file.
    package mutating func more() throws(TapeError) -> Bool {
        if used > 0 {
            if used == buffer.count { buffer.removeAll(keepingCapacity: true) } else { buffer.removeSubrange(..<used) }
            used = 0
        }
        let before = buffer.count
        switch source {
        case .file(let file):
            do {
                _ = try file.read(at: end, limit: TapeInput.step, into: &buffer)
            } catch {
                throw TapeError(.unreadable, file: name, offset: end, "cannot be read: \(error.reason)")
            }
        case .memory(let bytes):
            let from = Int(clamping: end)
            if from < bytes.count {
                buffer.append(copying: bytes.span.extracting(from..<min(bytes.count, from + TapeInput.step)))
            }
        }
        end += UInt64(buffer.count - before)
        return buffer.count > before
    }

    /// Goes on at `offset`.
    package mutating func seek(to offset: UInt64) {
        let start = end - UInt64(buffer.count)
        if offset >= start, offset <= end {
            used = Int(offset - start)
        } else {
            buffer.removeAll(keepingCapacity: true)
            used = 0
            end = offset
        }
    }
}
