internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeServing

/// The faults that a sweep tries: `--faults 'reset,close(1001),plan.yaml'`.
enum SweepFaults {
    /// `reset,close(1001, "x")`: split at commas outside brackets and quotes; each has to be a fault, or the name of a plan.
    static func parse(_ text: String) throws(OptionError) -> [String] {
        var found: [String] = []
        var current = ""
        var depth = 0
        var isQuoted = false
        for character in text + "," {
            switch character {
            case "\"": isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted: depth -= 1
            case "," where !isQuoted && depth <= 0:
                let word = current.trimmingBlanks()
                if word.isEmpty { throw OptionError("'\(text)' has an empty fault; write reset,disconnect") }
                if !found.contains(word) { found.append(word) }
                current = ""
                continue
            default: break
            }
            current.append(character)
        }
        if !current.trimmingBlanks().isEmpty {
            throw OptionError("'\(text)' has a bracket or quote that is never closed")
        }
        for fault in found where !isPlan(fault) { try check(fault) }
        return found
    }

    /// With what the rules of plans do in the place of the plans.
    static func expanded(_ faults: [String]) throws(OptionError) -> [String] {
        var found: [String] = []
        for fault in faults {
            guard isPlan(fault) else {
                if !found.contains(fault) { found.append(fault) }
                continue
            }
            do {
                for rule in try FaultOptions.plan(fault).rules {
                    let text = rule.actions.map(\.text).joined(separator: " + ")
                    if !found.contains(text) { found.append(text) }
                }
            } catch {
                throw OptionError(error.description)
            }
        }
        guard !found.isEmpty else { throw OptionError("--faults: the plan has no rule") }
        return found
    }

    static func isRule(_ text: String) -> Bool {
        (try? FaultRule(parsing: text, from: RuleSource(file: "--faults"))) != nil
    }

    private static func isPlan(_ word: String) -> Bool {
        !word.contains("(") && [".yaml", ".yml", ".json"].contains { word.hasSuffix($0) }
    }

    private static func check(_ fault: String) throws(OptionError) {
        let places = ["after message", "on message", "on request", "on negotiate", "on accept", "after upgrade"]
        guard !places.contains(where: { isRule("\(fault) \($0)") }) else { return }
        do {
            _ = try FaultRule(parsing: "\(fault) after message", from: RuleSource(file: "--faults"))
        } catch {
            throw OptionError("'\(fault)' is not a fault: \(error.message)")
        }
    }
}
