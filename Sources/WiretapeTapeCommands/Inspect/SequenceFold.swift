/// Counts rows that say little, so that a diagram shows the first of a run and a number for the rest.
package struct SequenceFold: Sendable {
    package enum Outcome: Hashable, Sendable {
        case show
        /// Part of a run that is long enough to fold.
        case hold
        /// A run is over: its line, then the row.
        case showAfter(String)
    }

    private enum Kind: Hashable {
        case keepalive, piece
    }

    private static let shown = 3

    private var run: Kind?
    private var count = 0
    /// When the last row that was shown of the run came, and the last of all.
    private var from: UInt64 = 0
    private var to: UInt64 = 0

    package init() {}

    package mutating func next(_ row: InspectRow) -> Outcome {
        let kind: Kind? =
            switch row.kind {
            case .keepalive: .keepalive
            case .piece: .piece
            case .open, .request, .response, .bodyEnd, .message, .close, .gone, .fault, .note: nil
            }
        if let kind, kind == run {
            count += 1
            to = row.time
            guard count <= Self.shown else { return .hold }
            from = row.time
            return .show
        }
        let folded = finish()
        run = kind
        count = 1
        from = row.time
        to = row.time
        return folded.map(Outcome.showAfter) ?? .show
    }

    /// The line of a run that was folded.
    package mutating func finish() -> String? {
        defer { run = nil }
        guard let run, count > Self.shown else { return nil }
        let more = count - Self.shown
        let name = run == .keepalive ? "keepalive" : "piece"
        let gap = Columns.gap(to >= from ? to - from : 0)
        return "\(more) more \(name)\(more == 1 ? "" : "s") in \(gap)"
    }
}
