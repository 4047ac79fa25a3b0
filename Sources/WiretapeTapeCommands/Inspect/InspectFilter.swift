internal import WiretapeCodecs
package import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol

/// `--filter`: which rows are shown. An ordinal counts within each session, as the rules of faults do.
package struct InspectFilter: Sendable {
    private let selector: Selector
    private var counts: [Int: Int] = [:]

    package init(_ selector: Selector) { self.selector = selector }

    /// - Throws: an error that points at the word which cannot be meant.
    package init(parsing text: String) throws(PlanError) {
        try self.init(Selector(parsing: text, from: RuleSource(file: "--filter")))
    }

    package mutating func shows(_ row: InspectRow) -> Bool {
        if let message = row.message {
            guard selector.matches(message.message) else { return false }
            return isCounted(in: message.session)
        }
        guard let request = row.request else { return false }
        // Without the clients' own clocks, an attempt begins with a request that no earlier one prepared.
        let isPrepared = Codecs.all.contains { $0.type.sessionKey(StreamOpening(request: request)) != nil }
        let isMeant = Codecs.all.contains { codec in
            let kind = codec.type.kind(request)
            let opensAttempt = kind == .negotiate || (kind == .upgrade && !isPrepared)
            var context = SelectorContext(protocolID: codec.id)
            context.opensAttempt = opensAttempt
            return selector.matches(request, kind, context)
        }
        guard isMeant else { return false }
        return isCounted(in: 0)
    }

    private mutating func isCounted(in session: Int) -> Bool {
        guard let occurrence = selector.occurrence else { return true }
        counts[session, default: 0] += 1
        return occurrence.contains(counts[session] ?? 0)
    }
}
