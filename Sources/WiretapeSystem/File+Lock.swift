#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: the path and the result are lent for the call.

extension File {
    /// Locks the file for this descriptor until it is closed (`flock`): of all that ask so, one at a time writes the file.
    /// A lock stays with the file that was opened, also when another one takes its place at the path.
    /// Does not wait. Throws an error with ``FileError/isLocked`` that names the process which has the lock, where the
    /// system tells (Linux), and also when the file at the path is another one by now.
    package borrowing func lock() throws(FileError) {
        try lending { (descriptor) throws(FileError) in
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                if errno == EINTR { continue }
                guard errno == EWOULDBLOCK else { throw FileError.last("lock", path) }
                throw FileError(
                    "lock", path, code: EWOULDBLOCK,
                    reason: "\(File.holder(descriptor) ?? "another process") is writing it")
            }
            var named = stat()
            guard let own = systemStatus(descriptor), unsafe stat(path, &named) == 0, named.st_ino == own.st_ino,
                named.st_dev == own.st_dev
            else { throw FileError("lock", path, code: EWOULDBLOCK, reason: "another process has just replaced it") }
        }
    }

    /// Gives the lock back before the file is closed.
    package borrowing func unlock() { lending { _ = flock($0, LOCK_UN) } }

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
        guard let file = try? File.reading(path) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < 64 << 10, let count = try? file.read(at: UInt64(bytes.count), limit: 8 << 10, into: &bytes),
            count > 0
        {}
        return String(decoding: bytes, as: UTF8.self)
    }
}
