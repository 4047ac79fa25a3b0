package import WiretapeAttempts
internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeFaults
package import WiretapeProxy
internal import WiretapeTLS
package import WiretapeWire

/// What `record` and `proxy` are asked to relay.
package struct RelayPlan {
    package var upstreams: [Upstream]
    /// Where clients of the n-th upstream connect. One upstream may have several.
    package var listens: [(upstream: Int, origin: Origin)]
    /// Which hosts are looked at when the listener is a proxy; nil: clients take it for the upstream.
    let forward: ForwardDoor.Scope?
    /// What leads clients back that servers send elsewhere; nil: they go there.
    package let leadBack: LeadBackRules?
    /// Connections are redirected here, and `forward` is not nil.
    package let isTransparent: Bool
    package var options = RelayOptions()
    package let limits: ClientLimits
    package var threads: Int
    /// Bytes for bodies and messages that are held.
    package let memory: Int
    /// Rules, what the run is held to, and where it is told.
    package let faults: FaultOptions
    package let expectations: [Expectation]
    let report: ReportTarget?
    /// As it was asked, for a report that says how to do it again.
    package let asked: ParsedArguments
    let events: EventsTarget?
    let control: ControlDoor?
    /// Whose certificates upstreams may show.
    var trust: TLSTrust
    /// What upstreams are shown that ask for a certificate.
    let identity: TLSFiles?
    /// What clients of listeners with TLS are shown.
    let doors: TLSDoors

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        asked = arguments
        memory = arguments.memory
        faults = try FaultOptions(arguments)
        report = try ReportTarget(arguments)
        events = try EventsTarget(arguments)
        control = try ControlDoor(arguments)
        limits = ClientLimits(arguments)
        forward = try ForwardPlan.scope(arguments)
        leadBack = try LeadBackRules.asked(arguments)
        isTransparent = ForwardPlan.isTransparent(arguments)
        do {
            expectations = try arguments.all("expect").map(Expectation.parse)
            let values = try arguments.all("upstream").map(UpstreamValue.parse)
            upstreams = values.map(\.upstream)
            if upstreams.isEmpty, forward == nil {
                throw OptionError(
                    "a server is needed to stand in front of: --upstream URL, or --mode forward for clients of a proxy")
            }
            listens = []
            let asked = arguments.all("listen")
            let scheme = arguments.has("tls") ? "https" : "http"
            if upstreams.count < 2 {
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
        doors = try TLSDoors(arguments, listens: listens.map(\.origin), isForward: forward != nil)
        try doors.check(faults.plan, listens.map(\.origin), isForward: forward != nil, arguments)
        for (index, upstream) in upstreams.enumerated() {
            if upstreams[..<index].contains(where: { $0.name == upstream.name }) {
                throw arguments.error(
                    "two upstreams are called '\(upstream.name)'; name them: --upstream chat=URL --upstream news=URL")
            }
        }
        do {
            // A page cannot make a browser speak to a proxy that it does not use.
            options.access = forward == nil ? try AccessPolicy(hosts: arguments.all("allow-host"), origins: []) : .open
        } catch {
            throw arguments.error(error.message)
        }
        options.via = try ViaProxy.asked(arguments)
        options.connectTimeout = arguments.duration("connect-timeout") ?? RelayOptions.connectTimeout
        options.keepHost = arguments.has("keep-host") || forward != nil
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
                "--report \(path): name a file, such as report.html; folders are made by 'wiretape replay'")
        }
        trust = try Self.trust(arguments)
        identity = try Self.identity(arguments, isForward: forward != nil)
    }

    private static func trust(_ arguments: ParsedArguments) throws(UsageError) -> TLSTrust {
        let file = arguments.value("upstream-ca")
        guard arguments.has("insecure-upstream") else { return file.map { .systemAnd(file: $0) } ?? .system }
        guard file == nil else {
            throw arguments.error("--upstream-ca and --insecure-upstream contradict each other")
        }
        return .everyone
    }

    private static func identity(_ arguments: ParsedArguments, isForward: Bool) throws(UsageError) -> TLSFiles? {
        guard let certificate = arguments.value("upstream-cert") else {
            guard arguments.value("upstream-key") == nil else {
                throw arguments.error("--upstream-key needs --upstream-cert, the certificate that it belongs to")
            }
            return nil
        }
        if isForward {
            throw arguments.error(
                "--upstream-cert: where clients name the hosts, each of them could ask for it; leave --mode forward out"
            )
        }
        return TLSFiles(certificate: certificate, key: arguments.value("upstream-key") ?? certificate)
    }

    /// What is behind the listeners with TLS, and behind a proxy.
    package func openDoors(_ log: Log) throws -> TLSDoors.Opened {
        try doors.open(listens.map(\.origin), hosts: upstreams.map(\.host), isForward: forward != nil, log)
    }

    /// The upstream of each listener; none when the listener is a proxy.
    package var listenedUpstreams: [Upstream] { forward == nil ? listens.map { upstreams[$0.upstream] } : [] }

    /// What the n-th listener is called in `urls`.
    package func listenerName(_ n: Int) -> String {
        guard forward != nil else { return upstreams[listens[n].upstream].name }
        return isTransparent ? (n == 0 ? "transparent" : "transparent-\(n + 1)") : "proxy"
    }

    /// As the header of a tape names it.
    package var mode: String { isTransparent ? "transparent" : forward == nil ? "reverse" : "forward" }

    /// What makes the listener a proxy; nil in reverse mode.
    package func forwardPlan(_ opened: TLSDoors.Opened, _ log: Log) -> ForwardPlan? {
        guard let forward, let inner = opened.door else { return nil }
        return ForwardPlan(
            scope: forward, isTransparent: isTransparent, inner: inner, page: AuthorityPage(opened.authority).answer,
            say: { log.warning($0) })
    }

    /// Hosts that a command asks by itself, as `no_proxy` has them; nil when the listener is no proxy.
    package var bypass: String? { isTransparent ? nil : forward?.bypass.environmentValue }

    /// Whether sessions are followed: for rules, for what the run is held to, or for a report.
    var watches: Bool { !faults.plan.rules.isEmpty || !expectations.isEmpty || report != nil || isFollowed }

    /// Whether somebody is told what happens as it happens.
    var isFollowed: Bool { events != nil || control != nil }
}
