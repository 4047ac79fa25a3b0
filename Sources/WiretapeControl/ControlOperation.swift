internal import WiretapeWire

/// What the control API can be asked, by the names that `docs/openapi.json` has for it.
package enum ControlOperation: String, CaseIterable, Sendable {
    case getStatus, listSessions, getSession, listMessages, streamEvents
    case listFaults, addFaults, replaceFaults, deleteFaults, resetFaults, getFault, putFault, deleteFault
    case listConnections, closeConnection, resetConnection, disconnectConnection, stallConnection, resumeConnection
    case injectMessage
    case advanceSession, pauseSession, resumeSession, getClock, changeClock
    case wait, addMark, getObserved, addObserved, expect, getReport
    case listReplays, createReplay, deleteReplay, listRecordings, createRecording, deleteRecording
    case getMetrics, getHealth, getIndex

    package var method: String { route.method }
    /// With `{…}` for what a request names.
    package var path: String { route.path }

    /// What its query may have.
    package var queryNames: [String] {
        let own: [String] =
            switch self {
            case .listMessages: ["after", "limit"]
            case .streamEvents: ["after", "types"]
            case .getReport: ["format"]
            default: []
            }
        return own + (isAboutRun ? ["run"] : [])
    }

    /// Whether it is about one run, which `?run=` names.
    package var isAboutRun: Bool {
        switch self {
        case .getStatus, .listSessions, .getSession, .listMessages, .streamEvents, .listFaults, .addFaults,
            .replaceFaults,
            .deleteFaults, .resetFaults, .getFault, .putFault, .deleteFault, .listConnections, .closeConnection,
            .resetConnection, .disconnectConnection, .stallConnection, .resumeConnection, .injectMessage,
            .advanceSession,
            .pauseSession, .resumeSession, .getClock, .changeClock, .wait, .addMark, .getObserved, .addObserved,
            .expect,
            .getReport:
            true
        case .listReplays, .createReplay, .deleteReplay, .listRecordings, .createRecording, .deleteRecording,
            .getMetrics,
            .getHealth, .getIndex:
            false
        }
    }

    /// Whether it is answered without the token.
    var isOpen: Bool { self == .getHealth }

    private var route: (method: String, path: String) {
        switch self {
        case .getStatus: ("GET", "/v1/status")
        case .listSessions: ("GET", "/v1/sessions")
        case .getSession: ("GET", "/v1/sessions/{id}")
        case .listMessages: ("GET", "/v1/sessions/{id}/messages")
        case .streamEvents: ("GET", "/v1/events")
        case .listFaults: ("GET", "/v1/faults")
        case .addFaults: ("POST", "/v1/faults")
        case .replaceFaults: ("PUT", "/v1/faults")
        case .deleteFaults: ("DELETE", "/v1/faults")
        case .resetFaults: ("POST", "/v1/faults/reset")
        case .getFault: ("GET", "/v1/faults/{name}")
        case .putFault: ("PUT", "/v1/faults/{name}")
        case .deleteFault: ("DELETE", "/v1/faults/{name}")
        case .listConnections: ("GET", "/v1/connections")
        case .closeConnection: ("POST", "/v1/connections/{id}/close")
        case .resetConnection: ("POST", "/v1/connections/{id}/reset")
        case .disconnectConnection: ("POST", "/v1/connections/{id}/disconnect")
        case .stallConnection: ("POST", "/v1/connections/{id}/stall")
        case .resumeConnection: ("POST", "/v1/connections/{id}/resume")
        case .injectMessage: ("POST", "/v1/connections/{id}/inject")
        case .advanceSession: ("POST", "/v1/sessions/{id}/advance")
        case .pauseSession: ("POST", "/v1/sessions/{id}/pause")
        case .resumeSession: ("POST", "/v1/sessions/{id}/resume")
        case .getClock: ("GET", "/v1/clock")
        case .changeClock: ("POST", "/v1/clock")
        case .wait: ("POST", "/v1/wait")
        case .addMark: ("POST", "/v1/marks")
        case .getObserved: ("GET", "/v1/observed")
        case .addObserved: ("POST", "/v1/observed")
        case .expect: ("POST", "/v1/expect")
        case .getReport: ("GET", "/v1/report")
        case .listReplays: ("GET", "/v1/replays")
        case .createReplay: ("POST", "/v1/replays")
        case .deleteReplay: ("DELETE", "/v1/replays/{id}")
        case .listRecordings: ("GET", "/v1/recordings")
        case .createRecording: ("POST", "/v1/recordings")
        case .deleteRecording: ("DELETE", "/v1/recordings/{id}")
        case .getMetrics: ("GET", "/metrics")
        case .getHealth: ("GET", "/healthz")
        case .getIndex: ("GET", "/")
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
