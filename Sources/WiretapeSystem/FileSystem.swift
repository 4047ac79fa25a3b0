/// How a file is opened.
package enum FileMode: Hashable, Sendable {
    case reading
    /// A new file, without a moment in which another process could make one; a symbolic link is not followed. One that is
    /// there is an error (``FileError/isExisting``).
    case new
    /// To be written from its beginning on: what is there is kept until then, a file is made where there is none.
    case writing
    /// The same, emptied.
    case emptied
    /// Every write goes to the end; a file is made where there is none.
    case appending
}

/// An open file as the system has it: a call may fail, or take less than it was given. ``File`` makes whole writes of them.
package protocol OpenFile: AnyObject, Sendable {
    /// Bytes in it now; 0 for what has no size, such as a pipe.
    var size: UInt64 { get }
    /// Whether it is a file on a disk: no folder, pipe, terminal or device.
    var isRegular: Bool { get }

    /// Appends at most `limit` bytes from `offset` on, or from where the last call ended where nothing can be read twice.
    /// - Returns: how many came; 0 at the end.
    func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(FileError) -> Int
    /// Writes the first of `bytes` where the last write ended.
    /// - Returns: how many it took.
    func write(_ bytes: Span<UInt8>) throws(FileError) -> Int
    /// Shortens or lengthens the file; the next write goes to its new end.
    func truncate(to size: UInt64) throws(FileError)
    /// Hands what was written to the device.
    func sync() throws(FileError)
    /// Locks the file for this opening of it until it is closed: of all that ask so, one at a time writes the file. A lock
    /// stays with the file that was opened, also when another one takes its place at the path. Does not wait.
    /// - Throws: an error with ``FileError/isLocked`` that names the process which has the lock, where the system tells
    ///   (Linux), and also when the file at the path is another one by now.
    func lock() throws(FileError)
    /// Gives the lock back before the file is closed.
    func unlock()
}

/// The files that tapes are in. Tapes are read and written through it, so that a test can put a disk in the system's place
/// that fails where it is told to and forgets what was not synced.
package protocol FileSystem: Sendable {
    func open(_ path: String, _ mode: FileMode) throws(FileError) -> any OpenFile
    func exists(_ path: String) -> Bool
    /// Whether there is a file on a disk at `path`: no folder, pipe, terminal or device.
    func isRegular(_ path: String) -> Bool
    /// The path with all symbolic links resolved; as it is when there is no such file.
    func resolved(_ path: String) -> String
    /// Gives the file at `path` the permissions of the one at `other`.
    func copyMode(of other: String, to path: String) throws(FileError)
    /// Puts `from` in the place of `to`, at once.
    func move(_ from: String, to: String) throws(FileError)
    func remove(_ path: String) throws(FileError)
    /// Hands the names in the folder of `path` to the device: a file that was made or renamed there stays so when the
    /// machine loses its power. Where the system does not do that for this folder it is left out; that it has failed is an
    /// error.
    func syncFolder(of path: String) throws(FileError)
}
