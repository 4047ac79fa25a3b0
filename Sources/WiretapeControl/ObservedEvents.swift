internal import WiretapeWire

/// Ids of events that an app under test says it has got, for each run: what reached it, and how often.
struct ObservedEvents {
    /// Ids that are kept for a run; further ones are refused.
    static let most = 100_000

    private var counts: [Int: [String: Int]] = [:]
    private var order: [Int: [String]] = [:]

    /// - Throws: 409 when there are too many.
    mutating func add(_ ids: [String], to run: Int) throws(ControlError) {
        for id in ids {
            if counts[run, default: [:]][id] == nil {
                guard order[run, default: []].count < Self.most else {
                    throw .conflict("\(Self.most) ids were observed, and no more are kept")
                }
                order[run, default: []].append(id)
            }
            counts[run, default: [:]][id, default: 0] += 1
        }
    }

    mutating func forget(run: Int) {
        counts[run] = nil
        order[run] = nil
    }

    func json(of run: Int) -> JSONValue {
        let ids = order[run] ?? []
        let twice = ids.filter { counts[run]?[$0] ?? 0 > 1 }
        return .object([
            .init("observed", .array(ids.map(JSONValue.string))), .init("twice", .array(twice.map(JSONValue.string))),
        ])
    }
}
