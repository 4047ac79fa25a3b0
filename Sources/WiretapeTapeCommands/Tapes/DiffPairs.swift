internal import WiretapeCommandLine
internal import WiretapeSystem

/// The tapes that `diff` compares.
struct DiffPairs {
    struct Pair {
        var first: String
        var second: String
        /// The tape's name within its folder; nil for two files.
        var name: String?
    }

    private(set) var both: [Pair] = []
    /// Tapes of one folder only.
    private(set) var alone: [(path: String, folder: String)] = []
    private(set) var isFolder = false

    init(_ a: String, _ b: String) throws {
        switch (File.isDirectory(a), File.isDirectory(b)) {
        case (true, true):
            isFolder = true
            let (left, right) = (try Self.tapes(a), try Self.tapes(b))
            for tape in left {
                if let other = right.first(where: { $0.name == tape.name }) {
                    both.append(Pair(first: tape.path, second: other.path, name: tape.name))
                } else {
                    alone.append((tape.path, a))
                }
            }
            for tape in right where !left.contains(where: { $0.name == tape.name }) { alone.append((tape.path, b)) }
            guard !both.isEmpty || !alone.isEmpty else { throw Failure("there is no tape in \(a) or \(b)") }
        case (false, false): both = [Pair(first: a, second: b)]
        // The folder of a report.
        case (true, false): both = [Pair(first: try Self.actual(a), second: b)]
        case (false, true): both = [Pair(first: a, second: try Self.actual(b))]
        }
    }

    private static func actual(_ folder: String) throws(Failure) -> String {
        let path = folder + (folder.hasSuffix("/") ? "" : "/") + "actual.tape"
        guard File.exists(path) else {
            throw Failure(
                "\(folder) is a folder without an actual.tape: compare two tapes, two folders, or a tape with a report")
        }
        return path
    }

    /// The tapes in a folder and those below, by name without suffix.
    private static func tapes(_ folder: String, below prefix: String = "") throws -> [(name: String, path: String)] {
        var tapes: [(name: String, path: String)] = []
        do throws(FileError) {
            for name in try File.names(in: folder) where !name.hasPrefix(".") {
                let path = folder + (folder.hasSuffix("/") ? "" : "/") + name
                if File.isDirectory(path) {
                    guard prefix.count < 1_000 else { continue }
                    tapes += (try? Self.tapes(path, below: prefix + name + "/")) ?? []
                } else if name.hasSuffix(".tape.gz") {
                    tapes.append((prefix + name.dropLast(8), path))
                } else if name.hasSuffix(".tape") {
                    tapes.append((prefix + name.dropLast(5), path))
                }
            }
        } catch {
            throw Failure(error.description)
        }
        return tapes
    }
}
