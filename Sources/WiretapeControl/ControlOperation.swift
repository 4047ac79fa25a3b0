internal import WiretapeWire

/// What the control API can be asked, by the names that `docs/openapi.json` has for it. Operations stand in groups; each group is done in
/// one place, which decides about every one of its operations.
package enum ControlOperation: Hashable, Sendable, CaseIterable {
    case page(PageOperation)
    case process(ProcessOperation)
    case look(LookOperation)
    case rules(RuleOperation)
    case act(ActOperation)
    case step(StepOperation)
    case clock(ClockOperation)
    case runs(RunOperation)

    package static let allCases: [ControlOperation] =
        PageOperation.allCases.map(Self.page) + ProcessOperation.allCases.map(Self.process)
        + LookOperation.allCases.map(Self.look) + RuleOperation.allCases.map(Self.rules)
        + ActOperation.allCases.map(Self.act) + StepOperation.allCases.map(Self.step)
        + ClockOperation.allCases.map(Self.clock) + RunOperation.allCases.map(Self.runs)

    private var named: any RoutedOperation {
        switch self {
        case .page(let operation): operation
        case .process(let operation): operation
        case .look(let operation): operation
        case .rules(let operation): operation
        case .act(let operation): operation
        case .step(let operation): operation
        case .clock(let operation): operation
        case .runs(let operation): operation
        }
    }

    /// As `docs/openapi.json` calls it.
    package var name: String { named.name }
    package var method: String { named.route.method.rawValue }
    /// With `{…}` for what a request names.
    package var path: String { named.route.path }

    /// What its query may have.
    package var queryNames: [String] {
        switch self {
        case .page, .process, .runs: []
        case .look(let operation): operation.queryNames + ["run"]
        case .rules, .act, .step, .clock: ["run"]
        }
    }

    /// Whether it is answered without the token.
    package var isOpen: Bool {
        switch self {
        case .page: true
        case .process(let operation): operation == .getHealth
        case .look, .rules, .act, .step, .clock, .runs: false
        }
    }

    /// What a request asks for.
    enum Found {
        case operation(ControlOperation, names: [String: String])
        /// There is the path, and it has these methods only.
        case otherMethods([String])
        case nothing
    }

    /// - Parameter method: `HEAD` is asked for as `GET`.
    static func find(_ method: String, _ path: String) -> Found {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { percentDecoded($0) }
        var found: [(operation: ControlOperation, names: [String: String])] = []
        for operation in allCases {
            guard let names = operation.names(in: parts) else { continue }
            found.append((operation, names))
        }
        // A path that stands in the table by its own words is not one with a name in it.
        if found.contains(where: { $0.names.isEmpty }) { found.removeAll { !$0.names.isEmpty } }
        guard !found.isEmpty else { return .nothing }
        let wanted = method == "HEAD" ? "GET" : method
        if let one = found.first(where: { $0.operation.method == wanted }) {
            return .operation(one.operation, names: one.names)
        }
        let methods = found.map(\.operation.method)
        return .otherMethods(methods + (methods.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"])
    }

    private func names(in parts: [String]) -> [String: String]? {
        let own = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard own.count == parts.count else { return nil }
        var names: [String: String] = [:]
        for (mine, part) in zip(own, parts) {
            if mine.hasPrefix("{") {
                guard !part.isEmpty else { return nil }
                names[String(mine.dropFirst().dropLast())] = part
            } else if mine != part {
                return nil
            }
        }
        return names
    }
}
