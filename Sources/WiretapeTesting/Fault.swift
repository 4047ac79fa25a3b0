internal import WiretapeFaults
internal import WiretapeReplay

/// A rule that breaks something: `"reset after ReceiveMessage[3]"`, `"respond(503, Retry-After=1) on connect[retry=1..2]"`. The grammar
/// is in `docs/faults.md`, and the same on the command line and in plans.
///
/// A text that is no rule shows when a server is started or its rules are replaced: the test fails with the place of the word that
/// is wrong, and the nearest right one.
///
/// ```swift
/// @Test(arguments: ["reset after next[1]", "stall(both) after next[1]"] as [Fault])
/// func survives(_ fault: Fault) async throws { … }
/// ```
public struct Fault: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// As it was written.
    public var text: String
    /// Whether a run in which it never acts may pass.
    public var isOptional: Bool

    /// - Parameters:
    ///   - text: in the inline form; 64 KiB at most.
    ///   - isOptional: whether a run in which it never acts may pass.
    public init(_ text: String, isOptional: Bool = false) {
        self.text = text
        self.isOptional = isOptional
    }

    /// A rule in the inline form.
    public init(stringLiteral value: String) { self.init(value) }

    /// As it was written.
    public var description: String { text }

    /// The rules as one plan.
    /// - Throws: for people, when one of them is none, or can be no rule of a replay.
    static func plan(_ faults: [Fault], isSecure: Bool) throws(TapeFailure) -> FaultPlan {
        var plan = FaultPlan()
        for fault in faults {
            do {
                let source = RuleSource(file: "--fault")
                plan.append(try FaultRule(parsing: fault.text, from: source, optional: fault.isOptional))
            } catch {
                throw TapeFailure("\(error), in \"\(fault.text)\"")
            }
        }
        let problems = plan.problemsInReplay + plan.problemsOfTLS(hasTLS: isSecure, issues: true)
        if let problem = problems.first { throw TapeFailure(problem.description) }
        return plan
    }
}
