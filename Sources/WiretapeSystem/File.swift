#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: buffers are lent to `read` and `write` for the call; the descriptor is closed with the object.

/// An open file, closed when it goes away. Calls that a signal interrupts are made again.
package struct File: ~Copyable, Sendable {
    /// As it was given.
    package let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { _ = systemClose(descriptor) }

    package static func reading(_ path: String) throws(FileError) -> File {
        File(path: path, descriptor: try opened(path, O_RDONLY | O_CLOEXEC))
    }

    /// A new file that only its owner may read and write: tapes and reports hold what passed, credentials too.
    /// - Parameter overwrite: whether a file that is there is emptied, with its permissions as they are; else it is an
    ///   error (`EEXIST`), without a moment in which another process could make one, and a symbolic link is not followed.
    package static func creating(_ path: String, overwrite: Bool) throws(FileError) -> File {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL)
        return File(path: path, descriptor: try opened(path, flags))
    }

    /// The same for one writer at a time: the file is locked (``lock()``) before anything of it is changed.
    package static func creatingAlone(_ path: String, overwrite: Bool) throws(FileError) -> File {
        guard overwrite else {
            let file = try creating(path, overwrite: false)
            try file.lock()
            return file
        }
        let file = File(path: path, descriptor: try opened(path, O_WRONLY | O_CREAT | O_CLOEXEC))
        // A terminal or a pipe has nothing to lock and nothing to cut.
        guard file.isRegular else { return file }
        try file.lock()
        try file.truncate(to: 0)
        return file
    }

    /// What is there is kept; a file is made where there is none. Every write goes to the end.
    package static func appending(_ path: String) throws(FileError) -> File {
        File(path: path, descriptor: try opened(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC))
    }

    private static func opened(_ path: String, _ flags: Int32) throws(FileError) -> Int32 {
        while true {
            let descriptor = systemOpen(path, flags)
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw FileError.last("open", path) }
        }
    }

    /// Lends its descriptor to a call that passes it on.
    package func lending<R, E: Error>(_ body: (Int32) throws(E) -> R) throws(E) -> R { try body(descriptor) }

    /// Bytes in it now; 0 for what has no size, such as a pipe.
    package var size: UInt64 { UInt64(max(0, systemSize(descriptor))) }

    /// Whether `offset` can be read again: false for pipes and terminals.
    package var isSeekable: Bool { systemSeek(descriptor) >= 0 }

    /// Appends at most `limit` bytes from `offset` on, or from where the last call ended when the file is not seekable.
    /// - Returns: how many came; 0 at the end.
    package func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(FileError) -> Int {
        while true {
            var count = 0
            out.append(addingCapacity: limit) { free in
                unsafe free.withUnsafeMutableBufferPointer { room, filled in
                    guard let base = room.baseAddress else { return }
                    count = unsafe systemRead(descriptor, base + filled, limit, offset)
                    filled += max(0, count)
                }
            }
            if count >= 0 { return count }
            if errno != EINTR { throw FileError.last("read", path) }
        }
    }

    /// Writes all of `bytes` at the end of what was written before. When it throws, some of them may be in the file.
    package func write(_ bytes: Span<UInt8>) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBufferPointer { all in
                guard let base = all.baseAddress else { return 0 }
                return unsafe systemWrite(descriptor, base + done, all.count - done)
            }
            if count > 0 {
                done += count
            } else if count == 0 {
                throw FileError("write", path, code: EIO, reason: systemMessage(EIO))
            } else if errno != EINTR {
                throw FileError.last("write", path)
            }
        }
    }

    /// Shortens or lengthens the file to `size`; the next write goes there.
    package func truncate(to size: UInt64) throws(FileError) {
        guard systemTruncate(descriptor, size) == 0 else { throw FileError.last("truncate", path) }
    }

    /// Whether it is a file on a disk: no folder, pipe, terminal or device.
    var isRegular: Bool { systemStatus(descriptor).map { $0.st_mode & S_IFMT == S_IFREG } ?? false }

    /// Hands what was written to the device.
    package func sync() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError.last("sync", path) }
    }

    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether it is a program or a script that may be started.
    package static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && !isDirectory(path)
    }

    /// Puts `from` in the place of `to`, at once.
    package static func move(_ from: String, to: String) throws(FileError) {
        guard unsafe rename(from, to) == 0 else { throw FileError.last("rename", to) }
    }

    /// Makes a folder and those above it, as far as they are missing.
    package static func makeFolder(_ path: String) throws(FileError) {
        if unsafe mkdir(path, 0o755) == 0 || isFolder(path) { return }
        let parent = path.utf8.last == UInt8(ascii: "/") ? path.dropLast() : path[...]
        guard errno == ENOENT, let slash = parent.lastIndex(of: "/"), slash > path.startIndex else {
            throw FileError.last("make folder", path)
        }
        try makeFolder(String(parent[..<slash]))
        guard unsafe mkdir(path, 0o755) == 0 || isFolder(path) else { throw FileError.last("make folder", path) }
    }

    /// Whether `path` is a folder. Leaves `errno` alone.
    private static func isFolder(_ path: String) -> Bool {
        let code = errno
        defer { errno = code }
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    package static func remove(_ path: String) throws(FileError) {
        guard unsafe unlink(path) == 0 else { throw FileError.last("remove", path) }
    }
}

extension FileError {
    /// Of `errno`.
    static func last(_ call: String, _ path: String) -> FileError {
        let code = errno
        return FileError(call, path, code: code, reason: systemMessage(code))
    }
}

// The C library's names are those of the methods above.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags, 0o600) }
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemSize(_ descriptor: Int32) -> Int64 { systemStatus(descriptor).map { Int64($0.st_size) } ?? 0 }
func systemStatus(_ descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
}
private func systemSeek(_ descriptor: Int32) -> Int64 { Int64(lseek(descriptor, 0, SEEK_CUR)) }
private func systemTruncate(_ descriptor: Int32, _ size: UInt64) -> Int32 {
    guard ftruncate(descriptor, off_t(clamping: size)) == 0 else { return -1 }
    return lseek(descriptor, off_t(clamping: size), SEEK_SET) >= 0 ? 0 : -1
}
@unsafe private func systemRead(
    _ descriptor: Int32, _ to: UnsafeMutablePointer<UInt8>, _ count: Int, _ offset: UInt64
) -> Int {
    let got = unsafe pread(descriptor, to, count, off_t(clamping: offset))
    return got < 0 && errno == ESPIPE ? unsafe read(descriptor, to, count) : got
}
@unsafe private func systemWrite(_ descriptor: Int32, _ from: UnsafePointer<UInt8>, _ count: Int) -> Int {
    unsafe write(descriptor, from, count)
}
