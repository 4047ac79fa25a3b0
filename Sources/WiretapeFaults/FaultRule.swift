/// One rule: what to do, and where.
package struct FaultRule: Hashable, Sendable {
    /// Given, or the rule in its inline form. Draws depend on it.
    package var name: String
    /// Done in order; the first one that ends the connection is the last.
    package var actions: [FaultAction]
    package var place: Place
    /// The pause before the connection ends, in nanoseconds. It follows ``Place/after`` and the settle time.
    package var pause: UInt64
    package var selector: Selector
    package var filters: RuleFilters
    /// Whether the run may pass although the rule never fires.
    package var optional: Bool
    package var source: RuleSource
    /// Where the selector's first word stands.
    package var subjectSource: RuleSource

    package init(
        name: String, actions: [FaultAction], place: Place, pause: UInt64 = 0, selector: Selector,
        filters: RuleFilters = RuleFilters(), optional: Bool = false, source: RuleSource,
        subjectSource: RuleSource? = nil
    ) {
        self.name = name
        self.actions = actions
        self.place = place
        self.pause = pause
        self.selector = selector
        self.filters = filters
        self.optional = optional
        self.source = source
        self.subjectSource = subjectSource ?? source
    }
}

/// Where a rule was written: `plan.yaml:4` or `--fault`.
package struct RuleSource: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    /// From 1.
    package var line: Int
    /// From 1; of the rule's first character.
    package var column: Int

    package init(file: String, line: Int = 1, column: Int = 1) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// What messages about a rule name: the flag, or file and line.
    package var description: String { file.hasPrefix("--") ? file : "\(file):\(line)" }
}

/// What a rule can only be done to: where that is not, it does not fire.
extension FaultRule {
    /// Whether an action applies to WebSocket frames only, so that it cannot fire on other transports.
    var needsFrames: Bool {
        actions.contains { action in
            if case .message(.fragment) = action.verdict { return true }
            return action.verdict == .message(.corrupt(.mask)) || action.verdict == .message(.corrupt(.rsv))
        }
    }

    /// It is about the answer to an upgrade.
    var needsUpgrade: Bool { actions.contains { $0.verdict.kind == .upgrade } }

    /// What it does to messages of the client, a server would see.
    package var needsServer: Bool { actions.contains(where: \.verdict.needsServer) }

    /// Whether its last action ends the connection.
    var isTerminal: Bool {
        actions.contains { action in
            if case .message(.truncate) = action.verdict { true } else { action.verdict.isTerminal }
        }
    }
}
