internal import Synchronization
package import WiretapeSystem

/// A new tape on disk.
package final class TapeFile: TapeSink {
    package let path: String
    private let file: File
    private let files: any FileSystem
    /// Whether it was made here: else it is another one's, and only written to.
    private let isOwn: Bool
    private let size = Atomic<UInt64>(0)
    /// Whether its name was handed to the device.
    private let isNameSynced = Atomic<Bool>(false)
    /// Whether it has taken another one's place and has no name of its own any more.
    private let isElsewhere = Atomic<Bool>(false)

    /// Makes the file and locks it: a second writer of the same file is refused.
    /// - Parameter force: whether one that is there is overwritten.
    package init(path: String, force: Bool = false, in files: any FileSystem = SystemFiles()) throws(TapeError) {
        self.path = path
        self.files = files
        isOwn = true
        do {
            file = try File.creatingAlone(path, overwrite: force, in: files)
        } catch {
            throw TapeFile.error(error, path, exists: !force && error.isExisting)
        }
    }

    /// A tape on standard output: plain, since who reads it goes on with its lines. What is there already is not touched.
    package static func standardOutput() throws(TapeError) -> TapeFile {
        do throws(FileError) {
            return TapeFile(path: "-", try File.inherited(Console.output.rawValue), in: SystemFiles())
        } catch {
            throw TapeFile.error(error, "-", exists: false)
        }
    }

    private init(path: String, _ file: consuming File, in files: any FileSystem) {
        self.path = path
        self.file = file
        self.files = files
        isOwn = false
    }

    /// As its name says; what has none is plain.
    package var isCompressed: Bool { isOwn && TapeFile.isCompressed(path) }

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
            if isOwn { try? file.truncate(to: size.load(ordering: .relaxed)) }
            throw TapeFile.error(error, path, exists: false)
        }
    }

    /// Does nothing for a pipe or a device.
    package func sync() throws(TapeError) {
        guard isOwn, file.isRegular else { return }
        do {
            try file.sync()
            guard !isNameSynced.load(ordering: .relaxed) else { return }
            try files.syncFolder(of: path)
            isNameSynced.store(true, ordering: .relaxed)
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
        } catch {
            throw TapeFile.error(error, other, exists: false)
        }
        isElsewhere.store(true, ordering: .relaxed)
        do {
            try files.syncFolder(of: other)
        } catch {
            throw TapeError(
                error.isNoSpace ? .noSpace : .unwritable, file: other,
                "is replaced, but a loss of power may undo that: \(error.reason)")
        }
    }

    /// Takes the file away again, never a pipe or a device.
    package func discard() {
        guard isOwn, file.isRegular, !isElsewhere.load(ordering: .relaxed) else { return }
        try? files.remove(files.resolved(path))
    }

    package static func error(_ error: FileError, _ path: String, exists: Bool) -> TapeError {
        if error.isLocked { return TapeError(.inUse, file: path, "\(error.reason)") }
        if exists { return TapeError(.exists, file: path, "exists already; --force overwrites it") }
        if error.isNoSpace { return TapeError(.noSpace, file: path, "cannot be written: \(error.reason)") }
        return TapeError(.unwritable, file: path, "cannot be written: \(error.reason)")
    }
}
