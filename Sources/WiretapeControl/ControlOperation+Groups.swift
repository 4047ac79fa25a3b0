/// Where an operation is reached.
struct ControlRoute {
    enum Method: String { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    var method: Method
    /// With `{…}` for what a request names.
    var path: String

    init(_ method: Method, _ path: String) {
        self.method = method
        self.path = path
    }
}

/// An operation of one of the groups of ``ControlOperation``.
protocol RoutedOperation {
    var name: String { get }
    var route: ControlRoute { get }
}

extension RoutedOperation where Self: RawRepresentable, RawValue == String {
    var name: String { rawValue }
}

/// The web page, which anybody may load: it asks for the token by itself.
package enum PageOperation: String, CaseIterable, Sendable, RoutedOperation {
    case getIndex, getPageFile

    var route: ControlRoute {
        switch self {
        case .getIndex: ControlRoute(.get, "/")
        case .getPageFile: ControlRoute(.get, "/page/{file}")
        }
    }
}

/// What is about the process, and about none of its runs.
package enum ProcessOperation: String, CaseIterable, Sendable, RoutedOperation {
    case getMetrics, getHealth

    var route: ControlRoute {
        switch self {
        case .getMetrics: ControlRoute(.get, "/metrics")
        case .getHealth: ControlRoute(.get, "/healthz")
        }
    }
}

/// Runs as a whole: what there is, and further ones.
package enum RunOperation: String, CaseIterable, Sendable, RoutedOperation {
    case listReplays, createReplay, deleteReplay, listRecordings, createRecording, deleteRecording

    var route: ControlRoute {
        switch self {
        case .listReplays: ControlRoute(.get, "/v1/replays")
        case .createReplay: ControlRoute(.post, "/v1/replays")
        case .deleteReplay: ControlRoute(.delete, "/v1/replays/{id}")
        case .listRecordings: ControlRoute(.get, "/v1/recordings")
        case .createRecording: ControlRoute(.post, "/v1/recordings")
        case .deleteRecording: ControlRoute(.delete, "/v1/recordings/{id}")
        }
    }
}

/// What looks at a run, and what is said about it.
package enum LookOperation: String, CaseIterable, Sendable, RoutedOperation {
    case getStatus, listSessions, getSession, listMessages, findMessages, streamEvents, listConnections
    case wait, addMark, getObserved, addObserved, expect, getReport

    var route: ControlRoute {
        switch self {
        case .getStatus: ControlRoute(.get, "/v1/status")
        case .listSessions: ControlRoute(.get, "/v1/sessions")
        case .getSession: ControlRoute(.get, "/v1/sessions/{id}")
        case .listMessages: ControlRoute(.get, "/v1/sessions/{id}/messages")
        case .findMessages: ControlRoute(.get, "/v1/messages")
        case .streamEvents: ControlRoute(.get, "/v1/events")
        case .listConnections: ControlRoute(.get, "/v1/connections")
        case .wait: ControlRoute(.post, "/v1/wait")
        case .addMark: ControlRoute(.post, "/v1/marks")
        case .getObserved: ControlRoute(.get, "/v1/observed")
        case .addObserved: ControlRoute(.post, "/v1/observed")
        case .expect: ControlRoute(.post, "/v1/expect")
        case .getReport: ControlRoute(.get, "/v1/report")
        }
    }

    /// What its query may have, beside the run.
    var queryNames: [String] {
        switch self {
        case .listMessages: ["after", "limit"]
        case .findMessages: ["where", "after", "counted"]
        case .streamEvents: ["after", "types"]
        case .getReport: ["format"]
        case .getStatus, .listSessions, .getSession, .listConnections, .wait, .addMark, .getObserved, .addObserved,
            .expect:
            []
        }
    }
}

/// The rules of a run.
package enum RuleOperation: String, CaseIterable, Sendable, RoutedOperation {
    case listFaults, addFaults, replaceFaults, deleteFaults, resetFaults, getFault, putFault, deleteFault

    var route: ControlRoute {
        switch self {
        case .listFaults: ControlRoute(.get, "/v1/faults")
        case .addFaults: ControlRoute(.post, "/v1/faults")
        case .replaceFaults: ControlRoute(.put, "/v1/faults")
        case .deleteFaults: ControlRoute(.delete, "/v1/faults")
        case .resetFaults: ControlRoute(.post, "/v1/faults/reset")
        case .getFault: ControlRoute(.get, "/v1/faults/{name}")
        case .putFault: ControlRoute(.put, "/v1/faults/{name}")
        case .deleteFault: ControlRoute(.delete, "/v1/faults/{name}")
        }
    }
}

/// What is done to a live connection.
package enum ActOperation: String, CaseIterable, Sendable, RoutedOperation {
    case closeConnection, resetConnection, disconnectConnection, stallConnection, resumeConnection, injectMessage

    var route: ControlRoute {
        switch self {
        case .closeConnection: ControlRoute(.post, "/v1/connections/{id}/close")
        case .resetConnection: ControlRoute(.post, "/v1/connections/{id}/reset")
        case .disconnectConnection: ControlRoute(.post, "/v1/connections/{id}/disconnect")
        case .stallConnection: ControlRoute(.post, "/v1/connections/{id}/stall")
        case .resumeConnection: ControlRoute(.post, "/v1/connections/{id}/resume")
        case .injectMessage: ControlRoute(.post, "/v1/connections/{id}/inject")
        }
    }
}

/// Which messages of a session may leave.
package enum StepOperation: String, CaseIterable, Sendable, RoutedOperation {
    case advanceSession, pauseSession, resumeSession

    var route: ControlRoute {
        switch self {
        case .advanceSession: ControlRoute(.post, "/v1/sessions/{id}/advance")
        case .pauseSession: ControlRoute(.post, "/v1/sessions/{id}/pause")
        case .resumeSession: ControlRoute(.post, "/v1/sessions/{id}/resume")
        }
    }
}

/// The clients' clock.
package enum ClockOperation: String, CaseIterable, Sendable, RoutedOperation {
    case getClock, changeClock

    var route: ControlRoute {
        switch self {
        case .getClock: ControlRoute(.get, "/v1/clock")
        case .changeClock: ControlRoute(.post, "/v1/clock")
        }
    }
}
