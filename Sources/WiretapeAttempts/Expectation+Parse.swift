package import WiretapeBytes

extension Expectation {
    /// One form of a policy, for help texts and hints.
    package struct Form: Sendable {
        package var name: String
        package var example: String
        package var summary: String
        package var names: [String] = []
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

    static func exponential(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
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

    static func polynomial(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        guard let base = arguments.take("base") ?? arguments.takePlain() else {
            throw OptionError("polynomial needs its first delay: polynomial(1s, power=2, cap=120s)")
        }
        var policy = Polynomial(base: try PolicyArguments.duration(base))
        if let text = arguments.take("power") {
            guard let power = Double(text), (0...16).contains(power), power * 2 == (power * 2).rounded() else {
                throw OptionError("'power' is a number from 0 to 16 in steps of a half, not '\(text)'")
            }
            policy.power = power
        }
        if let cap = try arguments.takeDuration("cap") { policy.cap = cap }
        if let text = arguments.take("from") { policy.from = try PolicyArguments.count(text, "from") }
        if let text = arguments.take("jitter") { policy.jitter = try jitter(text) }
        return .polynomial(policy)
    }

    static func resubscribes(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        var subscribers: [Subscriber] = []
        while let text = arguments.takePlain() {
            guard let arrow = text.firstRange(of: "->") else {
                subscribers.append(Subscriber(name: try label(text)))
                continue
            }
            let name = try label(String(text[..<arrow.lowerBound]))
            subscribers.append(Subscriber(name: name, pushes: try label(String(text[arrow.upperBound...]))))
        }
        return .resubscribes(subscribers)
    }

    static func asks(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        var all: [Asked] = []
        while let text = arguments.takePlain() { all.append(try asked(text)) }
        guard !all.isEmpty else { throw OptionError("asks needs a request: asks(\"POST /login\")") }
        let exactly = arguments.take("times")
        guard let least = arguments.take("min") else {
            let count = try exactly.map { (text) throws(OptionError) in try PolicyArguments.count(text, "times") }
            return .asks(all, Times(least: count ?? 1, most: count))
        }
        guard exactly == nil else { throw OptionError("asks takes 'times' or 'min', and not both") }
        let count = try PolicyArguments.count(least, "min")
        guard count > 0 else { throw OptionError("'min' is a number from 1; times=0 wants that no request comes") }
        return .asks(all, Times(least: count))
    }

    /// `POST /login`, in quotes or without.
    private static func asked(_ text: String) throws(OptionError) -> Asked {
        let isQuoted = text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let words = (isQuoted ? String(text.dropFirst().dropLast()) : text).split(separator: " ")
        guard let path = words.last, words.count <= 2, path.hasPrefix("/"), !path.contains("\"") else {
            throw OptionError("'\(text)' is not a request: write \"POST /login\", or \"/login\" for any method")
        }
        guard !path.contains("?") else {
            throw OptionError("'\(text)' has a query, and asks names a request by method and path only")
        }
        let method = words.count == 2 ? words.first.map { $0.uppercased() } : nil
        return Asked(method: method, path: String(path))
    }

    static func labels(_ arguments: inout PolicyArguments, _ example: String) throws(OptionError) -> [String] {
        var labels: [String] = []
        while let text = arguments.takePlain() { labels.append(try label(text)) }
        guard !labels.isEmpty else { throw OptionError("\(arguments.policy) needs a label: \(example)") }
        return labels
    }

    private static func label(_ text: String) throws(OptionError) -> String {
        let label = text.trimmingBlanks()
        guard !label.isEmpty, !label.contains(where: { "()".contains($0) }) else {
            throw OptionError("'\(text)' is not a label: write Ticks, or Ticks->Tick with what hangs on it")
        }
        return label
    }

    private static func jitter(_ text: String) throws(OptionError) -> Jitter {
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

    static func rate(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
        let text = arguments.take("max") ?? arguments.takePlain() ?? ""
        let units: [String: UInt64] = ["s": second, "m": 60 * second, "min": 60 * second, "h": 3_600 * second]
        let sides = text.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
        guard sides.count == 2, let max = Int(sides[0]), max > 0,
            let per = units[sides[1]] ?? DurationText.parse(sides[1]),
            per > 0
        else { throw OptionError("rate takes attempts in a time: rate(max=5/s), rate(max=10/30s)") }
        return .rate(max: max, per: per)
    }

    static func client(_ arguments: inout PolicyArguments) throws(OptionError) -> Policy {
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
            guard let text = arguments.take(parameter.name) else { continue }
            preset.values[parameter.name] = try parameter.read(text)
        }
        if let left = arguments.leftNames.first {
            let own = preset.parameters.map(\.name)
            let hint = NearestName.hint(left, among: own)
            let takes = own.isEmpty ? "; \(name) takes none" : "; \(name) takes \(own.joined(separator: ", "))"
            throw OptionError("client has no '\(left)'\(hint.isEmpty ? takes : hint)")
        }
        return .client(preset)
    }
}
