internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: buffers and paths are lent to the system for the call; the descriptor is closed with the object, which a
// caller holds for as long as its call takes.

/// An open file of this machine, closed when it goes away. Calls that a signal interrupts are made again.
package final class SystemFile: OpenFile {
    private let path: String
    private let descriptor: Int32
    private let isLocked = Atomic(false)

    package init(_ path: String, _ mode: FileMode) throws(FileError) {
        self.path = path
        let flags =
            switch mode {
            case .reading: O_RDONLY
            case .new: O_WRONLY | O_CREAT | O_EXCL
            case .writing: O_WRONLY | O_CREAT
            case .emptied: O_WRONLY | O_CREAT | O_TRUNC
            case .appending: O_WRONLY | O_CREAT | O_APPEND
            }
        while true {
            let opened = systemOpen(path, flags | O_CLOEXEC)
            if opened >= 0 {
                descriptor = opened
                return
            }
            if errno != EINTR { throw FileError.last("open", path) }
        }
    }

    /// What another process has opened for this one, such as the end of a pipe. Writing waits until there is room. It is not
    /// passed on to processes that this one starts.
    /// - Throws: when there is no such descriptor.
    package init(inherited descriptor: Int32) throws(FileError) {
        path = "fd:\(descriptor)"
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw FileError.last("open", path) }
        let flags = fcntl(descriptor, F_GETFL)
        if flags & O_ACCMODE == O_RDONLY { throw FileError("open", path, code: EBADF, reason: "it cannot be written") }
        _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK)
        self.descriptor = descriptor
    }

    deinit {
        // A process that another thread is just starting has a copy of the descriptor until it becomes its program, and the lock is
        // there as long as one copy is open.
        if isLocked.load(ordering: .relaxed) { unlock() }
        _ = systemClose(descriptor)
    }

    /// Lends its descriptor to a call that passes it on.
    package func lending<R, E: Error>(_ body: (Int32) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return try body(descriptor)
    }

    package var size: UInt64 { UInt64(max(0, systemStatus(descriptor).map { Int64($0.st_size) } ?? 0)) }

    package var isRegular: Bool { systemStatus(descriptor).map { $0.st_mode & S_IFMT == S_IFREG } ?? false }

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

    package func write(_ bytes: Span<UInt8>) throws(FileError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBufferPointer { all in
                guard let base = all.baseAddress else { return 0 }
                return unsafe systemWrite(descriptor, base, all.count)
            }
            if count >= 0 { return count }
            if errno != EINTR { throw FileError.last("write", path) }
        }
    }

    package func truncate(to size: UInt64) throws(FileError) {
        guard systemTruncate(descriptor, size) == 0 else { throw FileError.last("truncate", path) }
    }

    package func sync() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError.last("sync", path) }
    }

    // MARK: Locks

    /// By `flock`.
    package func lock() throws(FileError) {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw FileError.last("lock", path) }
            throw FileError(
                "lock", path, code: EWOULDBLOCK,
                reason: "\(SystemFile.holder(descriptor) ?? "another process") is writing it")
        }
        isLocked.store(true, ordering: .relaxed)
        var named = stat()
        guard let own = systemStatus(descriptor), unsafe stat(path, &named) == 0, named.st_ino == own.st_ino,
            named.st_dev == own.st_dev
        else { throw FileError("lock", path, code: EWOULDBLOCK, reason: "another process has just replaced it") }
    }

    package func unlock() {
        isLocked.store(false, ordering: .relaxed)
        _ = flock(descriptor, LOCK_UN)
    }

    /// `process 4711 (wiretape)`: who has the lock. Nil where the system does not tell.
    private static func holder(_ descriptor: Int32) -> String? {
        guard let status = systemStatus(descriptor), let locks = text("/proc/locks") else { return nil }
        // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:262179 0 EOF`; the device's numbers are left out, since file systems
        // differ in what they show there.
        for line in locks.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", words[5].split(separator: ":").last == "\(status.st_ino)",
                let id = Int32(words[4]), id > 0
            else { continue }
            let name = text("/proc/\(id)/comm").map { $0.filter { !$0.isNewline } } ?? ""
            return name.isEmpty ? "process \(id)" : "process \(id) (\(name))"
        }
        return nil
    }

    /// The first 64 KiB of a small file.
    private static func text(_ path: String) -> String? {
        guard let file = try? SystemFile(path, .reading) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < 64 << 10, let count = try? file.read(at: UInt64(bytes.count), limit: 8 << 10, into: &bytes),
            count > 0
        {}
        return String(decoding: bytes, as: UTF8.self)
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
private func systemStatus(_ descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
}
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
