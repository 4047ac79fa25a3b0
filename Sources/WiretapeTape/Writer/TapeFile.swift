internal import Synchronization
package import WiretapeSystem

/// A new tape on disk.
package final class TapeFile: TapeSink {
    package let path: String
    private let file: File
    private let files: any FileSystem
    private let size = Atomic<UInt64>(0)

    /// Makes the file and locks it: a second writer of the same file is refused.
    /// - Parameter force: whether one that is there is overwritten.
    package init(path: String, force: Bool = false, in files: any FileSystem = SystemFiles()) throws(TapeError) {
        self.path = path
        self.files = files
        do {
            file = try File.creatingAlone(path, overwrite: force, in: files)
        } catch {
            throw TapeFile.error(error, path, exists: !force && error.isExisting)
        }
    }

    /// `.tape.gz` is compressed, `.tape` plain; any other name is compressed.
    package static func isCompressed(_ path: String) -> Bool { !path.hasSuffix(".tape") }

    /// Bytes written so far.
    package var written: UInt64 { size.load(ordering: .relaxed) }

    /// After an error the file is cut to what was whole before.
    package func write(_ bytes: Span<UInt8>) throws(TapeError) {
        do {
            try file.write(bytes)
            size.add(UInt64(bytes.count), ordering: .relaxed)
        } catch {
            // Cutting needs no space; where it fails too, a reader uses the whole lines of what is there.
            try? file.truncate(to: size.load(ordering: .relaxed))
            throw TapeFile.error(error, path, exists: false)
        }
    }

    package func sync() throws(TapeError) {
        do {
            try file.sync()
            try files.syncFolder(of: path)
        } catch {
            throw TapeFile.error(error, path, exists: false)
        }
    }

    package func release() { file.unlock() }

    /// Takes the place of the file at `other`.
    func replace(_ other: String) throws(TapeError) {
        do {
            try file.sync()
            try files.move(path, to: other)
            try files.syncFolder(of: other)
        } catch {
            throw TapeFile.error(error, other, exists: false)
        }
    }

    /// Takes the file away again.
    func discard() { try? files.remove(path) }

    static func error(_ error: FileError, _ path: String, exists: Bool) -> TapeError {
        if error.isLocked { return TapeError(.inUse, file: path, "\(error.reason)") }
        if exists { return TapeError(.exists, file: path, "exists already; --force overwrites it") }
        if error.isNoSpace { return TapeError(.noSpace, file: path, "cannot be written: \(error.reason)") }
        return TapeError(.unwritable, file: path, "cannot be written: \(error.reason)")
    }
}
