internal import WiretapeFaults
internal import WiretapeSettings

/// Rules and settings as people write them: refused with a place, or read; a rule's own text reads as the same rule.
enum SettingsTargets {
    static let all = [
        FuzzTarget("plan", longest: 2_048) { plan(FuzzInput($0)) },
        FuzzTarget("settings", longest: 2_048) { bytes in
            do throws(PlanError) {
                _ = try SettingsFile(bytes, file: "wiretape.yaml")
                return nil
            } catch {
                return placed(error)
            }
        },
    ]

    private static func plan(_ input: FuzzInput) -> String? {
        do throws(PlanError) {
            if input.chooses(0) {
                let text = String(decoding: input.payload, as: UTF8.self)
                return try same(FaultRule(parsing: text, from: RuleSource(file: "--fault")))
            }
            let name = input.chooses(1) ? "plan.json" : "plan.yaml"
            let plan = try PlanFile.load(name) { path throws(PlanError) in
                guard path == name else { throw PlanError("is not there", at: RuleSource(file: path)) }
                return input.payload
            }
            for rule in plan.rules { if let wrong = try same(rule) { return wrong } }
            return nil
        } catch {
            return placed(error)
        }
    }

    private static func same(_ rule: FaultRule) throws(PlanError) -> String? {
        let again: FaultRule
        do throws(PlanError) {
            again = try FaultRule(parsing: rule.inline, from: RuleSource(file: "--fault"))
        } catch {
            return "'\(rule.inline)' cannot be read again: \(error.message)"
        }
        return again.inline == rule.inline ? nil : "'\(rule.inline)' reads as '\(again.inline)'"
    }

    private static func placed(_ error: PlanError) -> String? {
        guard error.source.line > 0, error.source.column > 0, !error.message.isEmpty else {
            return "no place: \(error)"
        }
        return nil
    }
}
