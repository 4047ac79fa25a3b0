package import WiretapeCommandLine
package import WiretapeFaults
internal import WiretapeSettings
internal import WiretapeSystem

/// The plan of `--faults`, `--fault` and `--seed`.
package struct FaultOptions {
    package var plan = FaultPlan()
    /// Given on the command line or in a plan; nil to draw one.
    package var seed: UInt64?

    /// - Parameter plans: files; nil for those of `--faults`.
    package init(_ arguments: ParsedArguments, plans: [String]? = nil) throws(UsageError) {
        for path in plans ?? arguments.all("faults") {
            do {
                plan.append(try Self.plan(path))
            } catch {
                throw arguments.error(error.description)
            }
        }
        for text in arguments.all("fault") {
            do {
                plan.append(try FaultRule(parsing: text, from: RuleSource(file: "--fault")))
            } catch {
                throw arguments.error(error.description)
            }
        }
        seed = arguments.count("seed") ?? plan.seed
    }

    /// The plan of a file and of those that it includes.
    package static func plan(_ path: String) throws(PlanError) -> FaultPlan { try PlanFile.load(path, read: bytes) }

    /// Plans are small: the rest of a longer file is not read, and the parser refuses it.
    private static func bytes(_ path: String) throws(PlanError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            if path == "-" { return try StandardInput.bytes(for: "--faults", limit: 2 << 20) }
            let file = try File.reading(path)
            while bytes.count <= 2 << 20, try file.read(at: UInt64(bytes.count), limit: 64 << 10, into: &bytes) > 0 {}
        } catch {
            throw PlanError("cannot be read: \(error.reason)", at: RuleSource(file: path))
        }
        return bytes
    }
}
