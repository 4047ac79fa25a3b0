internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProxy
internal import WiretapeTLS
internal import WiretapeWire

/// What `record` and `proxy` are asked to relay.
struct RelayPlan {
    var upstreams: [Upstream]
    /// Where clients of the n-th upstream connect. One upstream may have several.
    var listens: [(upstream: Int, origin: Origin)]
    var options = RelayOptions()
    let limits: ClientLimits
    var threads: Int
    /// Bytes for bodies and messages that are held.
    let memory: Int
    /// Rules, what the run is held to, and where it is told.
    let faults: FaultArguments
    let expectations: [Expectation]
    let report: ReportTarget?
    let events: EventsTarget?
    let control: ControlDoor?
    /// Whose certificates upstreams may show.
    var trust: TLSTrust
    /// What clients of listeners with TLS are shown.
    let doors: TLSDoors

    init(_ arguments: ParsedArguments) throws(UsageError) {
        memory = arguments.memory
        faults = try FaultArguments(arguments)
        report = try ReportTarget(arguments)
        events = try EventsTarget(arguments)
        control = try ControlDoor(arguments)
        limits = ClientLimits(arguments)
        do {
            expectations = try arguments.all("expect").map(Expectation.parse)
            let values = try arguments.all("upstream").map(UpstreamValue.parse)
            upstreams = values.map(\.upstream)
            listens = []
            let asked = arguments.all("listen")
            let scheme = arguments.has("tls") ? "https" : "http"
            if upstreams.count == 1 {
                listens = try asked.map { (0, try ListenValue.parseUnnamed($0, scheme: scheme)) }
                if listens.isEmpty { listens = [(0, ListenValue.free(scheme))] }
            } else {
                let origins = try ListenValue.assign(asked, to: upstreams.map(\.name), "upstreams", scheme: scheme)
                for (index, origin) in origins.enumerated() { listens.append((index, origin)) }
            }
            try CommandWords.check(arguments.tail, names: upstreams.map(\.name))
        } catch {
            throw arguments.error("\(error)")
        }
        doors = try TLSDoors(arguments, listens: listens.map(\.origin))
        for (index, upstream) in upstreams.enumerated() {
            if upstreams[..<index].contains(where: { $0.name == upstream.name }) {
                throw arguments.error(
                    "two upstreams are called '\(upstream.name)'; name them: --upstream chat=URL --upstream news=URL")
            }
        }
        do {
            options.access = try AccessPolicy(hosts: arguments.all("allow-host"), origins: [])
        } catch {
            throw arguments.error(error.message)
        }
        options.connectTimeout = arguments.duration("connect-timeout") ?? RelayOptions.connectTimeout
        options.keepHost = arguments.has("keep-host")
        threads = Int(arguments.count("threads") ?? 1)
        if threads > 1,
            !faults.plan.rules.isEmpty || !expectations.isEmpty || report != nil
                || events != nil || control != nil
        {
            throw arguments.error(
                "--threads \(threads): rules, reports and events are of one loop; leave --threads out with --fault, --faults, --expect, --report, --events and --control"
            )
        }
        if report == .output, arguments.has("json") {
            throw arguments.error("--report - and --json both want standard output")
        }
        if case .folder(let path) = report {
            throw arguments.error(
                "--report \(path): name a file, such as report.json; folders are made by 'wiretape replay'")
        }
        trust =
            arguments.has("insecure-upstream")
            ? .everyone : arguments.value("upstream-ca").map { .systemAnd(file: $0) } ?? .system
        if arguments.has("insecure-upstream"), arguments.has("upstream-ca") {
            throw arguments.error("--upstream-ca and --insecure-upstream contradict each other")
        }
    }

    /// What is behind the listeners with TLS.
    func openDoors(_ log: Log) throws -> TLSDoors.Opened {
        try doors.open(listens.map(\.origin), hosts: upstreams.map(\.host), log)
    }

    /// Whether sessions are followed: for rules, for what the run is held to, or for a report.
    var watches: Bool { !faults.plan.rules.isEmpty || !expectations.isEmpty || report != nil || isFollowed }

    /// Whether somebody is told what happens as it happens.
    var isFollowed: Bool { events != nil || control != nil }
}
