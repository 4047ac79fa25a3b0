package import WiretapeFaults

/// A plan of faults in YAML, or in JSON when its name ends so: `seed`, `rules`, `include`. `docs/faults.md` has examples.
package enum PlanFile {
    /// How deep files may include files.
    private static let includeLimit = 16
    /// How many files a plan may consist of, each counted as often as it is included.
    private static let fileLimit = 256

    /// Reads a plan and what it includes.
    /// - Parameters:
    ///   - file: its name as the user gave it; errors and included files are named from it.
    ///   - read: the bytes of a file by its path; included paths are relative to the folder of the file that names them.
    /// - Throws: ``PlanError`` with file, line and column: bad YAML (more than 1 MiB, deeper than 32, aliases), unknown keys
    ///   with the nearest known one, and every error of a rule.
    package static func load(
        _ file: String, read: (String) throws(PlanError) -> [UInt8]
    ) throws(PlanError) -> FaultPlan {
        var files = 0
        return try load(file, within: [], &files, read: read)
    }

    private static func load(
        _ file: String, within: [String], _ files: inout Int, read: (String) throws(PlanError) -> [UInt8]
    ) throws(PlanError) -> FaultPlan {
        files += 1
        let bytes = try read(file)
        // The quotes of JSON are its own, and no word of a rule.
        let root =
            file.hasSuffix(".json") ? try PlanNode(json: bytes, file: file) : try YAMLReader.read(bytes, file: file)
        return try FaultPlan(root) { node throws(PlanError) in
            try included(node, from: file, within: within + [file], &files, read: read)
        }
    }

    private static func included(
        _ node: PlanNode, from file: String, within: [String], _ files: inout Int,
        read: (String) throws(PlanError) -> [UInt8]
    ) throws(PlanError) -> FaultPlan {
        guard let name = node.text, !name.isEmpty else {
            throw node.error("a file name is a text, found \(node.description)")
        }
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        let path = name.hasPrefix("/") ? name : folder + name
        guard !within.contains(path) else { throw node.error("'\(name)' includes itself") }
        guard within.count < includeLimit else { throw node.error("files include files too deeply") }
        guard files < fileLimit else { throw node.error("the plan includes more than \(fileLimit) files") }
        do throws(PlanError) {
            return try load(path, within: within, &files, read: read)
        } catch {
            // A file that cannot be read is shown where it is named.
            throw error.source == RuleSource(file: path) ? node.error("'\(name)': \(error.message)") : error
        }
    }
}
