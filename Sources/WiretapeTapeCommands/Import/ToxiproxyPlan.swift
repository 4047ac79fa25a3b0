internal import WiretapeBytes
internal import WiretapeCapture
internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeWire

/// Makes a plan of faults of a Toxiproxy configuration: the file of `toxiproxy-server -config`, or what `GET /proxies` answers, which
/// has the toxics. A toxic that has no counterpart stands as a comment that says so.
enum ToxiproxyPlan {
    private static let most = 16 << 20

    static func write(
        _ path: String, _ file: ImportFile, _ begun: [UInt8], to output: String, _ arguments: ParsedArguments
    ) throws -> Int32 {
        let text = try file.whole(after: begun, limit: most)
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: text)
        } catch {
            throw Failure("\(path), byte \(error.offset): \(error.reason)", .badFile)
        }
        var plan = Plan()
        let proxies = value.array ?? value.members?.map(\.value) ?? []
        for proxy in proxies { plan.add(proxy) }
        guard plan.proxies > 0 else {
            throw Failure("\(path): there is no proxy in it, with a listen and an upstream address", .badFile)
        }
        do throws(FileError) {
            let target = try File.creating(output, overwrite: arguments.has("force"))
            let text = Array(plan.text(of: path).utf8)
            try target.write(text.span)
        } catch {
            if error.isExisting { throw Failure("\(output) exists already; --force overwrites it") }
            throw Failure("\(output): \(error.reason)")
        }
        var words = "\(ImportWords.count(UInt64(plan.rules.count), "rule")) on \(output)"
        if plan.leftOut > 0 {
            words += "; \(ImportWords.count(UInt64(plan.leftOut), "toxic")) without a counterpart, as comments"
        }
        return Verdict(.done, 0, words).tell(arguments)
    }

    /// The rules so far.
    struct Plan {
        private(set) var rules: [String] = []
        private var lines: [String] = []
        private(set) var proxies = 0
        private(set) var leftOut = 0
        private var upstreams: [String] = []

        mutating func add(_ proxy: JSONValue) {
            guard let upstream = proxy["upstream"]?.string, let listen = proxy["listen"]?.string else { return }
            proxies += 1
            let name = ToxiproxyPlan.word(proxy["name"]?.string ?? "proxy\(proxies)")
            upstreams.append(
                "--upstream \(name)=http://\(ToxiproxyPlan.line(upstream)) --listen http://\(ToxiproxyPlan.line(listen))"
            )
            lines.append("  # \(name): \(ToxiproxyPlan.line(listen)) to \(ToxiproxyPlan.line(upstream))")
            if proxy["enabled"]?.bool == false { put("refuse on accept[listener=\(name)]", "it is not enabled") }
            for toxic in proxy["toxics"]?.array ?? [] { add(toxic, of: name) }
        }

        private mutating func add(_ toxic: JSONValue, of proxy: String) {
            let type = toxic["type"]?.string ?? ""
            let isUp = toxic["stream"]?.string == "upstream"
            let attributes = toxic["attributes"]
            func milliseconds(_ name: String) -> Int { max(0, attributes?[name]?.int ?? 0) }
            let what =
                "\(ToxiproxyPlan.line(toxic["name"]?.string ?? type)): \(ToxiproxyPlan.line(type)) \(isUp ? "upstream" : "downstream")"
            var chance = ""
            if case .number(let text)? = toxic["toxicity"], let share = Double(text), share >= 0, share < 1 {
                chance = " p=\(share)"
            }
            let side = isUp ? "toServer" : "toClient"
            switch type {
            case "latency":
                let (latency, jitter) = (milliseconds("latency"), milliseconds("jitter"))
                let low = max(0, latency - jitter)
                let (high, isOver) = latency.addingReportingOverflow(jitter)
                guard !isOver else { return leave(what, "its times are out of range") }
                let time = jitter == 0 ? "\(latency)ms" : "\(low)ms..\(high)ms"
                put("delay(\(time)) on message[direction=\(side)]\(chance)", what)
            case "bandwidth":
                guard !isUp else { return leave(what, "throttle is about what goes to the client") }
                put("throttle(\(max(1, milliseconds("rate")))kB/s) on accept[listener=\(proxy)]", what)
            case "slicer":
                guard !isUp else { return leave(what, "slice is about what goes to the client") }
                let pause = max(1, milliseconds("delay"))
                put("slice(\(max(1, milliseconds("average_size"))), \(pause)us) on accept[listener=\(proxy)]", what)
            case "reset_peer": put("reset since connect=\(max(1, milliseconds("timeout")))ms\(chance)", what)
            case "timeout":
                let time = milliseconds("timeout")
                put(
                    time == 0
                        ? "stall(both) since connect=1ms\(chance)"
                        : "stall(both, \(time)ms) + disconnect since connect=1ms\(chance)", what)
            case "slow_close": leave(what, "a close that comes late has no rule of its own")
            case "limit_data": leave(what, "rules count messages, not a connection's bytes; see truncate")
            default: leave(what, "it is not known")
            }
        }

        private mutating func put(_ rule: String, _ why: String) {
            guard (try? FaultRule(parsing: rule, from: RuleSource(file: "import"))) != nil else {
                return leave(why, "'\(rule)' is no rule")
            }
            rules.append(rule)
            lines.append("  - \(JSONValue.string(rule).text)  # \(why)")
        }

        private mutating func leave(_ what: String, _ why: String) {
            leftOut += 1
            lines.append("  # \(what): left out, \(why)")
        }

        func text(of path: String) -> String {
            var text =
                "# Made of \(ToxiproxyPlan.line(path)) by wiretape import. Toxiproxy changes bytes, these rules messages: docs/import.md.\n"
            text += "# wiretape proxy \(upstreams.joined(separator: " ")) --faults THIS\n"
            text += rules.isEmpty ? "rules: []\n" : "rules:\n"
            return text + lines.joined(separator: "\n") + "\n"
        }
    }

    /// Without what would end a comment.
    private static func line(_ text: String) -> String { TerminalText.line(text) }

    private static func word(_ text: String) -> String {
        let word = text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return word.isEmpty ? "proxy" : word
    }
}
