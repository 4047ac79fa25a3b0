internal import WiretapeWire

/// What a run of the client came to.
enum SweepOutcome: Hashable, Sendable {
    case survived
    /// The run ended before the place of the fault was reached.
    case notReached
    /// The replay itself refused an attempt before the client did anything wrong: what came then says nothing of it.
    case unjudged(String)
    /// The client did not end in time.
    case hang
    case diverged(String)
    case expectation(String)
    /// The command's own exit code.
    case exit(Int32)
    /// The replay itself could not be run: the code and its last words.
    case unusable(Int32, String)

    /// - Parameters:
    ///   - code: that of `wiretape replay`: the command's own unless that was 0.
    ///   - report: of the run; nil when it wrote none.
    ///   - lastLine: of its standard error.
    init(code: Int32, report: JSONValue?, lastLine: String) {
        let reason = report?["reasons"]?.array?.first?.string ?? ""
        guard let verdict = report?["verdict"]?.string else {
            self = code == 124 ? .hang : .unusable(code, lastLine)
            return
        }
        let refused = report?["refused_by_replay"]?.array?.first?.string
        // A client that diverged by itself before is one that the sweep has to tell of.
        if let refused, report?["divergences"]?.array?.first?.string == refused, code != 0 || verdict != "pass" {
            self = .unjudged(refused)
            return
        }
        let isUnfired = report?["unfired"]?.array?.isEmpty == false
        // What could not be judged at this place is no failure of the client's.
        let unmet = report?["expectations"]?.array?.filter { $0["met"] == .bool(false) } ?? []
        let failed = unmet.first { $0["judged"] != .bool(false) }
        switch (code, verdict) {
        case (124, _): self = .hang
        // The command's own: ours are 2 and 5, and a command may end with them, too.
        case (1..., "pass"): self = .exit(code)
        case (_, "pass"): self = .survived
        case (2, "diverged"), (0, "diverged"): self = .diverged(reason)
        case (5, _), (0, _):
            if isUnfired {
                self = .notReached
            } else if failed == nil, !unmet.isEmpty {
                self = .survived
            } else {
                self = .expectation(failed?["reason"]?.string ?? reason)
            }
        default: self = .exit(code)
        }
    }

    /// Whether it speaks against the client.
    var isBroken: Bool {
        switch self {
        case .survived, .notReached, .unjudged: false
        case .hang, .diverged, .expectation, .exit, .unusable: true
        }
    }

    /// Equal for outcomes that a smaller plan has to keep.
    var kind: String {
        switch self {
        case .survived: "survived"
        case .notReached: "not reached"
        case .unjudged: "could not be judged"
        case .hang: "hang"
        case .diverged: "diverged"
        case .expectation: "expectation failed"
        case .exit(let code): "exit \(code)"
        case .unusable: "no run"
        }
    }

    var text: String {
        switch self {
        case .unjudged(let reason), .diverged(let reason), .expectation(let reason), .unusable(_, let reason):
            reason.isEmpty ? kind : "\(kind): \(reason.hasPrefix("wiretape: ") ? String(reason.dropFirst(10)) : reason)"
        case .survived, .notReached, .hang, .exit: kind
        }
    }
}
