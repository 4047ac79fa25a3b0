#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: paths are lent for each call; what the system allocates (`realpath`) is freed in the same function.

/// The files of this machine.
package struct SystemFiles: FileSystem {
    package init() {}

    package func open(_ path: String, _ mode: FileMode) throws(FileError) -> any OpenFile {
        try SystemFile(path, mode)
    }

    package func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    package func isRegular(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    package func resolved(_ path: String) -> String {
        guard let found = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    package func copyMode(of other: String, to path: String) throws(FileError) {
        var status = stat()
        guard unsafe stat(other, &status) == 0 else { throw FileError.last("stat", other) }
        guard unsafe chmod(path, status.st_mode & 0o7777) == 0 else { throw FileError.last("chmod", path) }
    }

    package func move(_ from: String, to: String) throws(FileError) {
        guard unsafe rename(from, to) == 0 else { throw FileError.last("rename", to) }
    }

    package func remove(_ path: String) throws(FileError) {
        guard unsafe unlink(path) == 0 else { throw FileError.last("remove", path) }
    }

    package func syncFolder(of path: String) throws(FileError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = systemOpenFolder(folder)
        guard descriptor >= 0 else {
            // Names may be made in a folder that may not be read.
            if errno == EACCES || errno == EPERM { return }
            throw FileError.last("open folder", folder)
        }
        defer { _ = close(descriptor) }
        guard fsync(descriptor) != 0, ![EINVAL, ENOTSUP, EROFS].contains(errno) else { return }
        throw FileError.last("sync folder", folder)
    }
}

/// The C library's name is that of the method above.
private func systemOpenFolder(_ path: String) -> Int32 { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
