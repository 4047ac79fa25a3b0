#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: paths are lent for each call; what the system allocates (`opendir`, `getcwd`) is closed or freed in the same
// function.

/// Names of files of this machine, and folders.
extension File {
    package static func exists(_ path: String) -> Bool { SystemFiles().exists(path) }

    package static func resolved(_ path: String) -> String { SystemFiles().resolved(path) }

    package static func remove(_ path: String) throws(FileError) { try SystemFiles().remove(path) }

    /// Whether it is a program or a script that may be started.
    package static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && !isDirectory(path)
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

    /// Takes an empty folder away.
    package static func removeFolder(_ path: String) throws(FileError) {
        guard unsafe rmdir(path) == 0 else { throw FileError.last("remove folder", path) }
    }

    /// Whether `path` is a folder. Leaves `errno` alone.
    private static func isFolder(_ path: String) -> Bool {
        let code = errno
        defer { errno = code }
        return isDirectory(path)
    }

    /// Whether `path` is a folder.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder, in order, without `.` and `..`.
    package static func names(in folder: String) throws(FileError) -> [String] {
        guard let stream = unsafe opendir(folder) else { throw FileError.last("open folder", folder) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The current folder; `.` where the system does not tell.
    package static var currentFolder: String {
        guard let path = unsafe getcwd(nil, 0) else { return "." }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
