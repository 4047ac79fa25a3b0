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

    /// Makes a folder with a name that nobody can foresee, for this user only.
    /// - Parameters:
    ///   - parent: the folder in which it is made. Nil: `TMPDIR`, else `/tmp`.
    ///   - prefix: what its name begins with.
    /// - Returns: its path.
    package static func makeTemporaryFolder(in parent: String? = nil, _ prefix: String) throws(FileError) -> String {
        // mkdtemp(3) puts random characters in the place of the six X.
        let template = "\(parent ?? ThisProcess.environment("TMPDIR") ?? "/tmp")/\(prefix)-XXXXXX"
        var name = Array(template.utf8CString)
        let made = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe name.baseAddress.map { unsafe mkdtemp($0) != nil } ?? false
        }
        guard made else { throw FileError.last("make folder", template) }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a file belongs to this process's user or to root, and nobody else can read or change it.
    package static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        return (status.st_uid == geteuid() || status.st_uid == 0) && status.st_mode & 0o077 == 0
    }

    /// Whether anything is there: a file, a folder or something else.
    package static func isThere(_ path: some StringProtocol) -> Bool { unsafe access(String(path), F_OK) == 0 }

    /// Why a file is not trusted: another user owns it or its folder, or everybody can write to one of them. Nil if it is trusted.
    /// Permissions of groups are not checked.
    /// - Parameters:
    ///   - path: the file's path, which may be a link.
    ///   - resolved: its path without links.
    package static func whyNotTrusted(_ path: String, _ resolved: String) -> String? {
        let places = [(resolved, "it"), (folder(of: resolved), "its folder"), (folder(of: path), "its folder")]
        for (place, what) in places {
            var status = stat()
            guard unsafe stat(place, &status) == 0 else { return "\(what) cannot be looked at" }
            guard isOurs(status.st_uid) else { return "\(what) belongs to another user" }
            if status.st_mode & 0o002 != 0 { return "everybody can write to \(what)" }
        }
        return nil
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Root also trusts the user who called `sudo`.
    private static func isOurs(_ user: uid_t) -> Bool {
        user == geteuid() || user == 0 || geteuid() == 0 && ThisProcess.environment("SUDO_UID") == "\(user)"
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
