#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An open file, closed when it goes away: ``OpenFile`` with whole writes.
package struct File: ~Copyable, Sendable {
    /// As it was given.
    package let path: String
    private let opened: any OpenFile

    private init(_ path: String, _ mode: FileMode, in files: any FileSystem) throws(FileError) {
        self.path = path
        opened = try files.open(path, mode)
    }

    private init(_ path: String, opened: any OpenFile) {
        self.path = path
        self.opened = opened
    }

    package static func reading(_ path: String, in files: any FileSystem = SystemFiles()) throws(FileError) -> File {
        try File(path, .reading, in: files)
    }

    /// A new file that only its owner may read and write: tapes and reports hold what passed, credentials too.
    /// - Parameter overwrite: whether a file that is there is emptied, with its permissions as they are; else it is an
    ///   error (`EEXIST`), without a moment in which another process could make one, and a symbolic link is not followed.
    package static func creating(_ path: String, overwrite: Bool) throws(FileError) -> File {
        try File(path, overwrite ? .emptied : .new, in: SystemFiles())
    }

    /// What another process has opened for this one to write: the end of a pipe or socket, or a file.
    /// - Parameter descriptor: its number; it is this object's from then on.
    package static func inherited(_ descriptor: Int32) throws(FileError) -> File {
        File("fd:\(descriptor)", opened: try SystemFile(inherited: descriptor))
    }

    /// As ``creating(_:overwrite:)``, for one writer at a time: the file is locked (``lock()``) before anything of it is changed.
    package static func creatingAlone(
        _ path: String, overwrite: Bool, in files: any FileSystem = SystemFiles()
    ) throws(FileError) -> File {
        guard overwrite else {
            let file = try File(path, .new, in: files)
            do throws(FileError) {
                try file.lock()
                return file
            } catch {
                // It is new and nobody's.
                try? files.remove(path)
                throw error
            }
        }
        let file = try File(path, .writing, in: files)
        // A terminal or a pipe has nothing to lock and nothing to cut.
        guard file.isRegular else { return file }
        try file.lock()
        try file.truncate(to: 0)
        return file
    }

    /// What is there is kept; a file is made where there is none. Every write goes to the end.
    package static func appending(_ path: String) throws(FileError) -> File {
        try File(path, .appending, in: SystemFiles())
    }

    /// Bytes in it now; 0 for what has no size, such as a pipe.
    package var size: UInt64 { opened.size }

    /// Whether it is a file on a disk: no folder, pipe, terminal or device.
    package var isRegular: Bool { opened.isRegular }

    /// Appends at most `limit` bytes from `offset` on, or from where the last call ended where nothing can be read twice.
    /// - Returns: how many came; 0 at the end.
    package func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(FileError) -> Int {
        try opened.read(at: offset, limit: limit, into: &out)
    }

    /// Writes all of `bytes` at the end of what was written before. When it throws, some of them may be in the file.
    package func write(_ bytes: Span<UInt8>) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let count = try opened.write(bytes.extracting(done...))
            guard count > 0 else { throw FileError("write", path, code: EIO, reason: systemMessage(EIO)) }
            done += count
        }
    }

    /// Shortens or lengthens the file to `size`; the next write goes there.
    package func truncate(to size: UInt64) throws(FileError) { try opened.truncate(to: size) }

    /// Hands what was written to the device.
    package func sync() throws(FileError) { try opened.sync() }

    /// See ``OpenFile/lock()``.
    package func lock() throws(FileError) { try opened.lock() }

    package func unlock() { opened.unlock() }
}
