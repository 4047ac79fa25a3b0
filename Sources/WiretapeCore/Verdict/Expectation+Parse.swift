extension Expectation {
    /// One form of a policy, for help texts and hints.
    package struct Form: Sendable {
        package var name: String
        package var example: String
        package var summary: String
        var names: [String] = []
        var parse: @Sendable (inout PolicyArguments) throws(OptionError) -> Policy
    }

    /// - Throws: for unknown policies and arguments, with the nearest name.
    package static func parse(_ text: String) throws(OptionError) -> Expectation {
        let trimmed = text.trimmingBlanks()
        let name = trimmed.prefix { $0 != "(" }.trimmingBlanks()
        guard let form = forms.first(where: { $0.name == name }) else {
            let hint = NearestName.hint(name, among: forms.map(\.name))
            let known = forms.map(\.name).joined(separator: ", ")
            throw OptionError("'\(name)' is not a policy\(hint.isEmpty ? "; there are \(known)" : hint)")
        }
        var inner = trimmed.dropFirst(trimmed.prefix { $0 != "(" }.count)
        if !inner.isEmpty {
            guard inner.hasSuffix(")") else { throw OptionError("'\(trimmed)' has no closing bracket") }
            inner = inner.dropFirst().dropLast()
        }
        var arguments = PolicyArguments(inner, of: name)
        let tolerance = try arguments.takeTolerance()
        let policy = try form.parse(&arguments)
        try arguments.finish(knowing: form.names + ["early", "late"])
        return Expectation(text: trimmed, policy: policy, tolerance: tolerance)
    }

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
            name: "resubscribes", example: "resubscribes",
            summary: "After every reconnect the client asks again for what was open."
        ) { (_) throws(OptionError) in .resubscribes },
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
            name: "client", example: "client(signalr-js)",
            summary: "What a named real client does: " + ClientPreset.all.map(\.name).joined(separator: ", ") + ".",
            names: ["interval"], parse: client),
    ]

    private static func exponential(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        guard let base = arguments.take("base") ?? arguments.takePlain() else {
            throw OptionError("exponential needs its first delay: exponential(1s, factor=2, cap=30s)")
        }
        var policy = Exponential(base: try PolicyArguments.duration(base))
        if let text = arguments.take("factor") {
            guard let factor = Double(text), factor >= 1, factor.isFinite else {
                throw OptionError("'factor' is a number from 1, not '\(text)'")
            }
            policy.factor = factor
        }
        if let cap = try arguments.takeDuration("cap") { policy.cap = cap }
        if let text = arguments.take("jitter") { policy.jitter = try jitter(text) }
        return .exponential(policy)
    }

    private static func jitter(_ text: String) throws(OptionError) -> Exponential.Jitter {
        if text.hasSuffix("%"), let part = Double(text.dropLast()), (0...100).contains(part) {
            return .part(part / 100)
        }
        if let dots = text.firstRange(of: "..") {
            let low = try PolicyArguments.duration(String(text[..<dots.lowerBound]))
            let high = try PolicyArguments.duration(String(text[dots.upperBound...]))
            guard low <= high else { throw OptionError("'\(text)' ends before it begins") }
            return .added(low, high)
        }
        if let most = DurationText.parse(text) { return .added(0, most) }
        throw OptionError("'jitter' is a part such as 20%, or a time such as 1s or 300ms..3s, not '\(text)'")
    }

    private static func rate(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        let text = arguments.take("max") ?? arguments.takePlain() ?? ""
        let units: [String: UInt64] = ["s": second, "m": 60 * second, "min": 60 * second, "h": 3_600 * second]
        let sides = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
        guard sides.count == 2, let max = Int(sides[0]), max > 0,
            let per = units[sides[1]] ?? DurationText.parse(sides[1]),
            per > 0
        else { throw OptionError("rate takes attempts in a time: rate(max=5/s), rate(max=10/30s)") }
        return .rate(max: max, per: per)
    }

    private static func client(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        let names = ClientPreset.all.map(\.name)
        guard let name = arguments.takePlain() else {
            throw OptionError("client needs a name: \(names.joined(separator: ", "))")
        }
        guard var preset = ClientPreset.all.first(where: { $0.name == name }) else {
            let hint = NearestName.hint(name, among: names)
            let known = "; there are \(names.joined(separator: ", "))"
            throw OptionError("'\(name)' is not a client whose policy is known\(hint.isEmpty ? known : hint)")
        }
        for parameter in preset.parameters {
            if let value = try arguments.takeDuration(parameter) { preset.values[parameter] = value }
        }
        return .client(preset)
    }
}
