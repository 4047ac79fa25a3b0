internal import WiretapeReport

extension ControlServer {
    /// The Prometheus text format, 0.0.4.
    var metrics: String {
        var out = ""
        func family(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: UInt64)]) {
            out += "# HELP wiretape_\(name) \(help)\n# TYPE wiretape_\(name) \(type)\n"
            for sample in samples { out += "wiretape_\(name)\(sample.labels) \(sample.value)\n" }
        }
        let all = runs.sorted { $0.key < $1.key }
        func each(_ value: (any ControlledRun) -> UInt64) -> [(labels: String, value: UInt64)] {
            all.map { ("{run=\"\($0.key)\"}", value($0.value)) }
        }
        family(
            "run_info", "gauge", "The runs of this process.",
            all.map { ("{run=\"\($0.key)\",kind=\"\($0.value.kind.rawValue)\"}", 1) })
        family(
            "connections_open", "gauge", "Client connections that are open.", each { UInt64($0.connections.count) })
        family(
            "connections_total", "counter", "Client connections so far.", each { $0.journal.tally.opened })
        family(
            "messages_total", "counter", "Decoded messages.",
            all.flatMap { number, run in
                [
                    ("{run=\"\(number)\",direction=\"to_server\"}", run.journal.tally.toServer),
                    ("{run=\"\(number)\",direction=\"to_client\"}", run.journal.tally.toClient),
                ]
            })
        family(
            "attempts_total", "counter", "Attempts of clients to get a connection.", each { $0.journal.tally.attempts })
        family("connected_total", "counter", "Attempts that came to a connection.", each { $0.journal.tally.connected })
        family(
            "sessions_finished_total", "counter", "Sessions that were played to their end.",
            each { $0.journal.tally.finished })
        family("faults_fired_total", "counter", "Rules that have acted.", each { $0.journal.tally.faults })
        family(
            "divergences_total", "counter", "What clients did otherwise than the tape.",
            each { $0.journal.tally.divergences })
        family("events_total", "counter", "Events that were told.", each { $0.journal.latest })
        let (connections, subscribers) = counts
        family("control_connections", "gauge", "Connections of the control API.", [("", UInt64(connections))])
        family(
            "control_subscribers", "gauge", "Those of them that are subscribed to events.", [("", UInt64(subscribers))])
        family("control_requests_total", "counter", "Requests to the control API.", [("", requests)])
        family(
            "control_events_dropped_total", "counter", "Events that subscribers did not read in time.", [("", dropped)])
        return out
    }
}
