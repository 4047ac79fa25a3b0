#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: paths are lent for each call; what the system allocates (`realpath`, `opendir`) is freed or closed in the
// same function.

extension File {
    /// The path with all symbolic links resolved; as it is when there is no such file.
    package static func resolved(_ path: String) -> String {
        guard let found = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// Gives the file at `path` the permissions of the one at `other`.
    package static func copyMode(of other: String, to path: String) throws(FileError) {
        var status = stat()
        guard unsafe stat(other, &status) == 0 else { throw FileError.last("stat", other) }
        guard unsafe chmod(path, status.st_mode & 0o7777) == 0 else { throw FileError.last("chmod", path) }
    }

    /// Hands the names in the folder of `path` to the device: a file that was made or renamed there stays so when the
    /// machine loses its power. Where a system cannot do that for folders it is left out.
    package static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = close(descriptor)
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
