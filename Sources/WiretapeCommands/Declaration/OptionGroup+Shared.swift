internal import WiretapeAttempts
package import WiretapeCommandLine
internal import WiretapeControl
internal import WiretapeServing
internal import WiretapeWire

extension OptionGroup {
    /// What happens, as it happens.
    static let events = OptionSpec(
        "events", "TARGET", .checked(suggestions: ["fd:3"]) { _ in },
        "Write a line of JSON for everything as it happens, to a file, to fd:N (an open descriptor of the process "
            + "that starts this one) or to - (standard output): docs/events.md has the shapes.")

    /// What every command that serves takes.
    package static let run = OptionGroup(
        "Run",
        [
            OptionSpec("timeout", "D", .duration, "End the run after this time, with exit code 124."),
            OptionSpec(
                switch: "exit-with-parent",
                "End the run, as SIGTERM does, when the process that started it has ended, however that came."),
            memory,
            OptionSpec(
                switch: "json",
                "Print machine-readable lines on standard output; the first one when ready. Beside a command --events keeps them apart."
            ),
            OptionSpec(
                "log-level", "LEVEL", .choice(Log.Level.allCases.map(\.rawValue)), default: "info",
                "How much is told on standard error."),
            OptionSpec(switch: "quiet", short: "q", "Tell errors and the verdict only, as --log-level error."),
            OptionSpec(
                "control", "ADDRESS", .checked(suggestions: ["127.0.0.1:0"]) { _ = try ListenValue.parse($0) },
                "Open the control API there: look at the run and act on it while it goes on (docs/control.md). HOST:PORT or "
                    + "http://HOST:PORT; port 0 picks a free one."),
            OptionSpec(
                "control-token", "TOKEN", .checked(suggestions: []) { try ControlAccess.check(token: $0) },
                "What requests to the control API have to bring as 'Authorization: Bearer TOKEN': 8 characters or more. An address "
                    + "beyond loopback needs one."),
            config,
        ])

    static let allowHost = OptionSpec(
        "allow-host", "NAME", .checked(suggestions: ["*"]) { _ = try AccessPolicy.host(parsing: $0) }, repeatable: true,
        "Let in requests whose Host is this name, too: chat.example.com, *.example.com, or * for every one. "
            + "Loopback names, numbers and names without a dot are always let in.")

    static let allowOrigin = OptionSpec(
        "allow-origin", "ORIGIN", .checked(suggestions: ["*"]) { _ = try AccessPolicy.origin(parsing: $0) },
        repeatable: true,
        "Let in pages of this origin, too: https://app.example.com, null (pages of files), or * for every one, without "
            + "its credentials. Pages of loopback are always let in, on any port.")

    /// How a relay treats its upstreams.
    package static let relay = OptionGroup(
        "Relay",
        [
            OptionSpec(
                "upstream", "[NAME=]URL", UpstreamValue.kind, repeatable: true,
                "The server to stand in front of: http, https, ws or wss. Each further one has a name and a listener. Needed "
                    + "in --mode reverse."),
            OptionSpec(
                "listen", "ADDRESS", ListenValue.kind, repeatable: true,
                "Where clients connect: HOST:PORT, http://HOST:PORT or https://HOST:PORT; port 0 picks a free one. The n-th "
                    + "is for the n-th upstream, NAME=ADDRESS for that one. (default: 127.0.0.1:0)"),
            allowHost,
            OptionSpec(switch: "keep-host", "Pass on the client's Host header instead of the upstream's name."),
            OptionSpec(
                "upstream-ca", "FILE", .file, "Trust the certificates in this PEM file too, beside the system's."),
            OptionSpec(switch: "insecure-upstream", "Do not verify the upstream's certificate."),
            OptionSpec(
                "upstream-cert", "FILE", .file,
                "Show upstreams that ask for a client's certificate this one (PEM, behind it those that issued it)."),
            OptionSpec(
                "upstream-key", "FILE", .file,
                "The key of --upstream-cert (PEM, without a password). (default: the file of --upstream-cert)"),
            via,
            OptionSpec(
                "threads", "N", .count(1...64), default: "1",
                "Event loops, each on a thread of its own. With rules, --expect, --report, --events or --control there is "
                    + "one."),
            mode, only, bypass, leadBack,
        ])

    /// How clients come.
    static let mode = OptionSpec(
        "mode", "MODE", .choice(["reverse", "forward", "transparent"]), default: "reverse",
        "reverse: clients use the listener's address in place of the server's. forward: the listener is a proxy (HTTP with CONNECT, "
            + "and SOCKS 5), clients name the hosts that they want to reach, and a command behind -- finds it in http_proxy, "
            + "https_proxy and all_proxy. transparent (Linux): connections that a rule of the firewall redirects to the listener, "
            + "whose clients know nothing of it (docs/transparent.md).")

    static let only = OptionSpec(
        "only", "HOST", .checked(suggestions: []) { _ = try HostPatterns([$0]) }, repeatable: true,
        "In forward mode: look at these hosts only, and tunnel the others untouched: chat.example.com, *.example.com, "
            + "127.0.0.1:5000. In reverse mode: lead clients back from these hosts only.")

    static let bypass = OptionSpec(
        "bypass", "HOST", .checked(suggestions: []) { _ = try HostPatterns([$0]) }, repeatable: true,
        "In forward mode: tunnel these hosts untouched. In reverse mode: let clients go to these hosts by themselves when a server sends them there."
    )

    /// How upstreams are reached.
    static let via = OptionSpec(
        "via", "URL", .checked(suggestions: ["socks5://127.0.0.1:1080"]) { _ = try ViaProxy(parsing: $0) },
        "Reach upstreams through this proxy: http://HOST:PORT or socks5://HOST:PORT, which looks their names up; USER:PASSWORD@ "
            + "before HOST where it wants them. WIRETAPE_VIA keeps a password out of the list of processes.")

    static let leadBack = OptionSpec(
        "lead-back", "PLACE", .checked(suggestions: ["*:/url", "off"]) { try LeadBackRules.check($0) },
        repeatable: true,
        "A place beside the known ones at which an answer names a server that clients go to next, so that they are led back here: "
            + "'GET /config:/hub/url' (in a JSON body), X-Hub-Url (a header field). off: answers stay as they are.")

    /// TLS towards clients.
    package static let tls = OptionGroup(
        "TLS",
        [
            OptionSpec(
                switch: "tls",
                "Speak TLS to clients on every listener whose address names no scheme, with certificates of this user's "
                    + "authority ('wiretape ca')."),
            OptionSpec(
                "cert", "FILE", .file,
                "Show clients this certificate instead (PEM, behind it those that issued it)."),
            OptionSpec(
                "key", "FILE", .file, "The key of --cert (PEM, without a password). (default: the file of --cert)"),
            OptionSpec(
                "client-ca", "FILE", .file,
                "Ask clients for a certificate that one of those in this PEM file has issued, and refuse others. Whom it is for "
                    + "stands on the tape."),
            OptionSpec(
                "client-auth", "HOW", .choice(["required", "optional"]), default: "required",
                "Whether --client-ca refuses clients that show no certificate."),
            CACommand.caFolder,
        ])

    /// How long peers may keep us waiting. The defaults are those of nginx but for connecting: client_header_timeout,
    /// client_body_timeout, keepalive_timeout.
    package static let limits = OptionGroup(
        "Time-outs",
        [
            OptionSpec(
                "head-timeout", "D", TimeLimitValue.kind, default: "60s",
                "How long the head of a request may take from its first byte to its last: then 408, and the connection ends. "
                    + "off: for ever."),
            OptionSpec(
                "body-timeout", "D", TimeLimitValue.kind, default: "60s",
                "How long the body of a request that nobody has answered may stand still: then 408, and the connection ends. "
                    + "off: for ever."),
            OptionSpec(
                "idle-timeout", "D", TimeLimitValue.kind, default: "75s",
                "How long a connection may be without a request before it is closed. Open WebSockets, streams, and requests "
                    + "that await their answer are never timed out. off: for ever."),
            OptionSpec(
                "connect-timeout", "D", TimeLimitValue.positive, default: "10s",
                "How long connecting to an address of an upstream may take, its TLS handshake included."),
        ])

    /// What a run on live traffic is held to, and its report.
    static let liveReport = OptionGroup(
        "Report",
        [
            OptionSpec(
                "expect", "POLICY", .checked(suggestions: [], { _ = try Expectation.parse($0) }), repeatable: true,
                "What every client is held to when it reconnects: 'delays(0s, 2s)', 'client(pysignalr)'. Exit 5 when it "
                    + "does otherwise."),
            OptionSpec(
                "report", "FILE", .file,
                "Write attempts, faults and the verdict: to FILE.html, FILE.json, FILE.txt or FILE.xml (JUnit), or - for JSON on "
                    + "standard output."),
            events,
        ])

    /// Faults and their seed.
    package static let faults = OptionGroup(
        "Faults",
        [
            OptionSpec(
                "fault", "RULE", repeatable: true,
                "A rule in its inline form: 'reset after ReceiveMessage[3]', 'respond(503) on connect[retry=1]'. "
                    + "A rule that never fires fails the run."),
            OptionSpec(
                "faults", "FILE", .file, repeatable: true,
                "A plan in YAML; - is standard input. Rules apply in the order written."),
            OptionSpec("seed", "N", .count(0...UInt64.max), "Repeat the random draws of an earlier run."),
        ])
}
