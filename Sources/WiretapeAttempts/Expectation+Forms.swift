internal import WiretapeBytes
internal import WiretapeWire

extension Expectation {
    /// Every policy that can be written.
    package static let forms: [Form] = [
        Form(
            name: "delays", example: "delays(0s, 2s, 10s, 30s, early=50ms, late=1s)",
            summary:
                "The n-th retry since the last success comes so long after the end before it; none comes after the last."
        ) { (arguments) throws(OptionError) in
            guard !arguments.plain.isEmpty else {
                throw OptionError("delays needs at least one delay: delays(0s, 2s, 10s, 30s)")
            }
            var delays: [UInt64] = []
            while let text = arguments.takePlain() { delays.append(try PolicyArguments.duration(text)) }
            return .delays(delays)
        },
        Form(
            name: "exponential", example: "exponential(1s, factor=2, cap=30s, jitter=20%)",
            summary: "Retries wait base × factorⁿ up to the cap; jitter is a part (20%), or what is added (300ms..3s).",
            names: ["base", "factor", "cap", "jitter"], parse: exponential),
        Form(
            name: "polynomial", example: "polynomial(1s, power=2, cap=120s)",
            summary: "The n-th retry waits base × n^power up to the cap; with from=0 n counts from 0.",
            names: ["base", "power", "cap", "from", "jitter"], parse: polynomial),
        Form(name: "constant", example: "constant(5s)", summary: "Every retry comes after so long, for ever.") {
            (arguments) throws(OptionError) in
            guard let text = arguments.takePlain() else { throw OptionError("constant needs its delay: constant(5s)") }
            return .constant(try PolicyArguments.duration(text))
        },
        Form(
            name: "gives-up", example: "gives-up(after=4)",
            summary: "A client that finds no server makes so many retries and no more.", names: ["after"]
        ) { (arguments) throws(OptionError) in
            guard let text = arguments.take("after") ?? arguments.takePlain() else {
                throw OptionError("gives-up needs the number of retries: gives-up(after=4)")
            }
            return .givesUp(after: try PolicyArguments.count(text, "after"))
        },
        Form(
            name: "rate", example: "rate(max=5/s)", summary: "Attempts of one session come no faster than that.",
            names: ["max"], parse: rate),
        Form(
            name: "honours", example: "honours(retry-after)",
            summary: "No attempt comes before the time that an answer's Retry-After asked for."
        ) { (arguments) throws(OptionError) in
            guard arguments.takePlain() == "retry-after" else {
                throw OptionError("honours takes retry-after: honours(retry-after)")
            }
            return .honoursRetryAfter
        },
        Form(
            name: "transports", example: "transports(ws, sse, lp)", summary: "Transports are tried in this order."
        ) { (arguments) throws(OptionError) in
            var transports: [Transport] = []
            while let text = arguments.takePlain() {
                guard let transport = Transport(rawValue: text) else {
                    let hint = NearestName.hint(text, among: Transport.allCases.map(\.rawValue))
                    throw OptionError("'\(text)' is not a transport\(hint)")
                }
                transports.append(transport)
            }
            guard !transports.isEmpty else {
                throw OptionError("transports needs at least one: transports(ws, sse, lp)")
            }
            return .transports(transports)
        },
        Form(
            name: "detects", example: "detects(within=30s)",
            summary: "A connection that went silent (stall, mute) is given up within so long.", names: ["within"]
        ) { (arguments) throws(OptionError) in
            guard let text = arguments.take("within") ?? arguments.takePlain() else {
                throw OptionError("detects needs its time: detects(within=30s)")
            }
            return .detects(within: try PolicyArguments.duration(text))
        },
        Form(
            name: "resubscribes", example: "resubscribes(Ticks, JoinGroup)",
            summary:
                "After every reconnect the client asks again for what was open; the names are messages that subscribe.",
            parse: resubscribes),
        Form(
            name: "once", example: "once(Send)",
            summary: "What was acknowledged of these labels is not said again after a reconnect."
        ) { (arguments) throws(OptionError) in .once(try labels(&arguments, "once(Send)")) },
        Form(
            name: "keeps", example: "keeps(Send)",
            summary: "What was not acknowledged of these labels is said again after a reconnect."
        ) { (arguments) throws(OptionError) in .keeps(try labels(&arguments, "keeps(Send)")) },
        Form(
            name: "drops", example: "drops(Send)",
            summary: "What was not acknowledged of these labels is not said again after a reconnect."
        ) { (arguments) throws(OptionError) in .drops(try labels(&arguments, "drops(Send)")) },
        Form(
            name: "asks", example: "asks(\"POST /login\")",
            summary: "Clients send this HTTP request, at least once; times=2 for exactly two, min=2 for two or more.",
            names: ["times", "min"], parse: asks),
        Form(
            name: "single", example: "single", summary: "No client has two connections or event streams at a time."
        ) { (_) throws(OptionError) in .single },
        Form(
            name: "stays-away", example: "stays-away(after=close(4001))",
            summary: "No attempt comes after such an end: close(4001), close(4000..4099|4400), status(401).",
            names: ["after"]
        ) { (arguments) throws(OptionError) in
            guard let text = arguments.take("after") ?? arguments.takePlain() else {
                throw OptionError("stays-away needs an end: stays-away(after=close(4001))")
            }
            return .staysAway(after: try FinalEnd.parse(text))
        },
        Form(
            name: "pings", example: "pings(every=15s)",
            summary: "On a connection the client says something at least so often, keepalives included.",
            names: ["every"]
        ) { (arguments) throws(OptionError) in
            guard let text = arguments.take("every") ?? arguments.takePlain() else {
                throw OptionError("pings needs its time: pings(every=15s)")
            }
            let every = try PolicyArguments.duration(text)
            guard every > 0 else { throw OptionError("'every' is a duration above 0, not '\(text)'") }
            return .pings(every: every)
        },
        Form(
            name: "refreshes", example: "refreshes(before-expiry)",
            summary: "While connected, the client renews each credential before that credential expires (SignalR 11)."
        ) { (arguments) throws(OptionError) in
            guard (arguments.takePlain() ?? "before-expiry") == "before-expiry" else {
                throw OptionError("refreshes has one form: refreshes(before-expiry)")
            }
            return .refreshes
        },
        Form(
            name: "finished", example: "finished",
            summary:
                "Every recorded session that a client began is played to its end: a run that is ended before is no pass."
        ) { (_) throws(OptionError) in .finished },
        Form(
            name: "client", example: "client(signalr-js)",
            summary: "What a named real client does: " + ClientPreset.all.map(\.name).joined(separator: ", ") + ".",
            names: ClientPreset.allParameters, parse: client),
    ]
}
