package import WiretapeCommandLine
internal import WiretapeRuntime
internal import WiretapeSystem

/// Whether the command behind `--` can be started. It is asked before anything is listened on or written: a command that
/// does not exist leaves no tape and takes the place of none.
package enum CommandCheck {
    /// - Throws: a failure with the code of a shell: 127 for a command that is not there, 126 for one that is no program.
    package static func check(_ tail: [String]?) throws(Failure) {
        guard let name = tail?.first, !name.contains("{url}"), !name.contains("{url:") else { return }
        if name.contains("/") { return try checkFile(name, as: name) }
        guard let path = ThisProcess.environment("PATH") else { return }
        let folders = path.split(separator: ":", omittingEmptySubsequences: false)
        let files = folders.map { $0.isEmpty ? name : "\($0)/\(name)" }.filter { File.exists($0) }
        // As a shell: the first that is a program, and else what is wrong with the first.
        if files.contains(where: { File.isExecutable($0) }) { return }
        guard let first = files.first else {
            throw Failure("cannot start '\(name)': there is no such command in PATH", .commandMissing)
        }
        try checkFile(first, as: name)
    }

    private static func checkFile(_ path: String, as name: String) throws(Failure) {
        if !File.exists(path) { throw Failure("cannot start '\(name)': no such file", .commandMissing) }
        if File.isDirectory(path) { throw Failure("cannot start '\(name)': it is a folder", .commandUnusable) }
        if !File.isExecutable(path) {
            throw Failure("cannot start '\(name)': permission denied; it is not executable", .commandUnusable)
        }
    }

    /// What the system said to a start that failed all the same: a script whose interpreter is not there.
    static func failure(_ error: NetError, _ name: String) -> Failure {
        // ENOENT is 2 on every system; libuv tells it with a minus.
        Failure("cannot start '\(name)': \(error.reason)", error.code == -2 ? .commandMissing : .commandUnusable)
    }
}
