internal import WiretapeCore
internal import WiretapeProxy
internal import WiretapeTLS

/// What `record` and `proxy` are asked to relay.
struct RelayPlan {
    var upstreams: [Upstream]
    /// Where clients of the n-th upstream connect. One upstream may have several.
    var listens: [(upstream: Int, origin: Origin)]
    var options = RelayOptions()
    var threads: Int
    /// Whose certificates upstreams may show.
    var trust: TLSTrust

    init(_ arguments: ParsedArguments) throws(UsageError) {
        do {
            let values = try arguments.all("upstream").map(UpstreamValue.parse)
            upstreams = values.map(\.upstream)
            listens = []
            let asked = try arguments.all("listen").map(ListenValue.parse)
            let free = Origin(scheme: "http", host: "127.0.0.1", port: 0, rest: "")
            if upstreams.count == 1 {
                listens = (asked.isEmpty ? [free] : asked).map { (0, $0) }
            } else {
                for index in upstreams.indices { listens.append((index, index < asked.count ? asked[index] : free)) }
                if asked.count > upstreams.count {
                    throw OptionError(
                        "--listen is given \(asked.count) times for \(upstreams.count) upstreams; the n-th is for the n-th"
                    )
                }
            }
        } catch {
            throw arguments.error("\(error)")
        }
        for (index, upstream) in upstreams.enumerated() {
            if upstreams[..<index].contains(where: { $0.name == upstream.name }) {
                throw arguments.error(
                    "two upstreams are called '\(upstream.name)'; name them: --upstream chat=URL --upstream news=URL")
            }
        }
        options.keepHost = arguments.has("keep-host")
        threads = Int(arguments.count("threads") ?? 1)
        trust =
            arguments.has("insecure-upstream")
            ? .everyone : arguments.value("upstream-ca").map { .systemAnd(file: $0) } ?? .system
        if arguments.has("insecure-upstream"), arguments.has("upstream-ca") {
            throw arguments.error("--upstream-ca and --insecure-upstream contradict each other")
        }
    }
}
