package import WiretapeCore

/// A plan of faults in YAML: `seed`, `rules`, `include`. `docs/faults.md` has examples.
package enum PlanFile {
    /// How deep files may include files.
    private static let includeLimit = 16

    /// Reads a plan and what it includes.
    /// - Parameters:
    ///   - file: its name as the user gave it; errors and included files are named from it.
    ///   - read: the bytes of a file by its path; included paths are relative to the folder of the file that names them.
    /// - Throws: ``PlanError`` with file, line and column: bad YAML (more than 1 MiB, deeper than 32, aliases), unknown keys
    ///   with the nearest known one, and every error of a rule.
    package static func load(
        _ file: String, read: (String) throws(PlanError) -> [UInt8]
    ) throws(PlanError) -> FaultPlan {
        try load(file, within: [], read: read)
    }

    private static func load(
        _ file: String, within: [String], read: (String) throws(PlanError) -> [UInt8]
    ) throws(PlanError) -> FaultPlan {
        var plan = FaultPlan()
        guard let root = try YAMLReader.read(try read(file), file: file) else { return plan }
        for (_, name, value) in try root.pairs("a plan", known: ["seed", "rules", "include"]) {
            switch name {
            case "seed":
                guard let seed = value.text.flatMap(UInt64.init) else {
                    throw value.error("a seed is a whole number from 0, found \(value.description)")
                }
                plan.seed = seed
            case "rules":
                for rule in try list(value, "rules") { plan.append(try PlanRule.read(rule)) }
            default:
                for include in try list(value, "include") {
                    plan.append(try included(include, from: file, within: within + [file], read: read))
                }
            }
        }
        return plan
    }

    private static func included(
        _ node: YAMLNode, from file: String, within: [String], read: (String) throws(PlanError) -> [UInt8]
    ) throws(PlanError) -> FaultPlan {
        guard let name = node.text, !name.isEmpty else {
            throw node.error("a file name is a text, found \(node.description)")
        }
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        let path = name.hasPrefix("/") ? name : folder + name
        guard !within.contains(path) else { throw node.error("'\(name)' includes itself") }
        guard within.count < includeLimit else { throw node.error("files include files too deeply") }
        do throws(PlanError) {
            return try load(path, within: within, read: read)
        } catch {
            // A file that cannot be read is shown where it is named.
            throw error.source == RuleSource(file: path) ? node.error(error.message) : error
        }
    }

    private static func list(_ node: YAMLNode, _ what: String) throws(PlanError) -> [YAMLNode] {
        switch node.kind {
        case .list(let items): return items
        case .scalar("", isQuoted: false): return []
        default: throw node.error("'\(what)' is a list, found \(node.description)")
        }
    }
}
