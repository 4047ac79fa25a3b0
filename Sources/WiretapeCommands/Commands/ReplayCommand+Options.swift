internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeReport

extension ReplayOptions {
    /// What the command line says; its values have been checked one by one while parsing.
    init(_ arguments: ParsedArguments) throws(OptionError) {
        self.init()
        if let text = arguments.value("speed") { speed = try Speed(parsing: text) }
        if let text = arguments.value("match") { match = try Match(parsing: text) }
        if let text = arguments.value("on-divergence") { onDivergence = try OnDivergence(parsing: text) }
        if let text = arguments.value("on-reconnect") { onReconnect = try OnReconnect(parsing: text) }
        if let text = arguments.value("greeting") { greeting = try GreetingOption(parsing: text) }
        if let text = arguments.value("when-exhausted") { whenExhausted = try WhenExhausted(parsing: text) }
        if let text = arguments.value("keepalive") { keepalive = try Keepalive(parsing: text) }
        if let text = arguments.value("server-limits") { serverLimits = try ServerLimitsOption(parsing: text) }
        if let text = arguments.value("until") { ending.until = try Until(parsing: text) }
        if let time = arguments.duration("patience") { patience = time }
        if let text = arguments.value("on-miss") { routing.onMiss = try OnMiss(parsing: text) }
        if let text = arguments.value("causality") { causality = try Causality(parsing: text) }
        if let text = arguments.value("deflate") { deflate = try Deflate(parsing: text) }
        if let text = arguments.value("transports") { transports = try Self.transports(parsing: text) }
        if let text = arguments.value("session") { routing.names = try Self.names(parsing: text) }
        if let text = arguments.value("time-scale") { clock.scale = try Self.timeScale(parsing: text) }
        if let count = arguments.count("clients") { clients = Int(clamping: count) }
        if let time = arguments.duration("grace") { grace = time }
        clock.idleCap = arguments.duration("idle-cap")
        ids.areFresh = arguments.has("fresh-ids")
        ending.allowsUnplayed = arguments.has("allow-unplayed")
        for text in arguments.all("secret") {
            let (key, secret) = try Self.secret(parsing: text)
            ids.secrets[key] = secret
        }
        for text in arguments.all("ignore") { ignore.append(try IgnoreRule(parsing: text)) }
        for text in arguments.all("route") { routing.routes.append(try Route(parsing: text)) }
        for text in arguments.all("expect") { expectations.append(try Expectation.parse(text)) }
        try check(hasUpstream: arguments.has("upstream"))
    }
}
