package import WiretapeCommandLine
internal import WiretapeProxy
internal import WiretapeSystem
package import WiretapeWire

/// Where a run can be reached, told once its listeners accept.
package struct ReadyLine: Sendable {
    /// Names of upstreams and where clients reach each: `http://127.0.0.1:41234`.
    package var urls: [(name: String, url: String)]
    /// Path and stable query of the first session; empty when none is known.
    package var endpointPath: String
    package var seed: UInt64?
    /// Variables that make a command trust our certificates.
    package var trust: [(name: String, value: String)]
    /// What was asked for behind `--listen`, for each of `urls`.
    package var listens: [Origin]
    /// Hosts that a command asks without the proxy, as `no_proxy` has them; nil: the listener is no proxy.
    package var bypass: String?
    /// Where the control API is, and its token; nil: there is none.
    package var control: (url: String, token: String?)?

    package init(
        urls: [(name: String, url: String)], endpointPath: String = "", seed: UInt64? = nil,
        trust: [(name: String, value: String)] = [], listens: [Origin] = []
    ) {
        self.listens = listens
        self.trust = trust
        self.urls = urls
        self.endpointPath = endpointPath
        self.seed = seed
    }

    /// The first origin.
    package var url: String { urls.first?.url ?? "" }

    /// The same origin for WebSockets.
    package var webSocketURL: String { "ws" + url.dropFirst(4) }

    /// The line of `--json`, with its newline.
    package func json(pid: Int32) -> String {
        JSONValue.object([.init("event", .string("ready"))] + members(pid: pid)).text + "\n"
    }

    package func members(pid: Int32) -> [JSONValue.Member] {
        [
            .init("url", .string(url)), .init("urls", .object(urls.map { .init($0.name, .string($0.url)) })),
            .init("endpoint", .string(url + endpointPath)), .init("ws", .string(webSocketURL + endpointPath)),
            .init("control", control.map { .string($0.url) } ?? .null),
            .init("proxy", bypass == nil ? .null : .string(url)), .init("pid", .number(pid)),
            .init("seed", seed.map { .number($0) } ?? .null),
        ]
    }

    /// What a started command finds in its environment. Without a control API its variable is empty, so that a script that
    /// insists on all three (`set -u`) runs.
    package var environment: [(name: String, value: String)] {
        var found = [
            ("WIRETAPE_URL", url), ("WIRETAPE_WS_URL", webSocketURL), ("WIRETAPE_CONTROL", control?.url ?? ""),
        ]
        if let token = control?.token { found.append(("WIRETAPE_CONTROL_TOKEN", token)) }
        for (name, url) in urls {
            let variable = CommandWords.variable(name)
            if !found.contains(where: { $0.0 == variable }) { found.append((variable, url)) }
        }
        return found + proxies + trust
    }

    /// What makes a command use the proxy, in both spellings: programs look for one or the other.
    private var proxies: [(name: String, value: String)] {
        guard let bypass else { return [] }
        var found = [("NODE_USE_ENV_PROXY", "1")]
        for name in ["http_proxy", "https_proxy", "ws_proxy", "wss_proxy", "all_proxy", "no_proxy"] {
            let value = name == "no_proxy" ? bypass : url
            found += [(name, value), (name.uppercased(), value)]
        }
        return found
    }

    /// Tells people on standard error and, with `--json`, machines on standard output.
    package func tell(_ arguments: ParsedArguments, _ log: Log) {
        for (i, (name, url)) in urls.enumerated() {
            let title = urls.count > 1 ? "\(name): " : ""
            log.info(
                bypass == nil
                    ? "\(title)listening on \(url)"
                    : "a proxy for HTTP, CONNECT and SOCKS 5 on \(url); http://\(ForwardDoor.magicHost)/ through it has the certificate"
            )
            if bypass != nil, listens.indices.contains(i), !listens[i].isLoopback {
                log.warning(
                    "other machines may use the proxy: whoever reaches it reaches what this machine does, its own loopback included"
                )
            }
            let others = listens.indices.contains(i) ? Listening.otherURLs(listens[i], url) : []
            if !others.isEmpty { log.info("\(title)other machines reach it at \(others.joined(separator: " "))") }
        }
        if let control { log.info("control API on \(control.url)") }
        if arguments.has("json"), arguments.tail != nil {
            log.warning(
                "--json: its lines stand between those of the command; --events FILE or --events fd:N has them by themselves"
            )
        }
        if arguments.has("json") { Console.output.writeJSON(json(pid: ThisProcess.id)) }
    }
}
