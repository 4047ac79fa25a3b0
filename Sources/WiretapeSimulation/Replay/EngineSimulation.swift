internal import WiretapeFaults
internal import WiretapeMessages
package import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeReport
internal import WiretapeWire

/// The simulation of the replay engine: one seed is one ``EngineScenario`` and what is wrong with its run.
package enum EngineSimulation {
    /// What `tools/test` draws from.
    package static let kept = EngineScenario.Kind.allCases

    /// - Parameter trace: hears everything that happens, for people.
    /// - Returns: what broke a rule; empty for a good seed.
    package static func problems(
        seed: UInt64, _ codec: CodecEntry, kinds: [EngineScenario.Kind], trace: ((String) -> Void)? = nil
    ) -> [String] {
        let scenario = EngineScenario(seed: seed, codec, kinds: kinds)
        if let trace { tell(scenario, trace) }
        let run = EngineRun(scenario, trace: trace)
        var problems = run.problems
        if seed % 8 == 0 {
            // The same seed is the same run, byte for byte.
            let again = EngineRun(EngineScenario(seed: seed, codec, kinds: kinds))
            if again.bytes != run.bytes || again.report != run.report {
                problems.append("the same seed is another run")
            }
        }
        if seed % 4 == 1, scenario.kind == .calm || scenario.kind == .slow {
            // A client that says the same gets the same in every chain, whatever the speed, the pace and the way.
            let plain = EngineRun(scenario.plain)
            if plain.report.digest != run.report.digest {
                problems.append("digest \(run.report.digest), without haste \(plain.report.digest)")
            }
        }
        return problems
    }

    private static func tell(_ scenario: EngineScenario, _ trace: (String) -> Void) {
        trace("seed \(scenario.seed): \(scenario.kind), \(scenario.options.speed), \(scenario.weather)")
        for rule in scenario.faults.rules { trace("fault \(rule.name)") }
        for (habits, sessions) in zip(scenario.habits, scenario.parts) {
            trace("\(habits)")
            for session in sessions {
                trace("session \(session.number) of \(session.route), opened at \((session.opened ?? 0) / 1_000) us")
                for (i, entry) in session.entries.enumerated() {
                    switch entry.what {
                    case .message(let message):
                        let text = String(decoding: message.bytes.dropLast(), as: UTF8.self)
                        trace("  \(i) \(entry.time / 1_000) us \(message.direction.mark) \(text)")
                    case .ending(let ending): trace("  \(i) \(entry.time / 1_000) us \(ending)")
                    }
                }
            }
        }
    }
}
