package import WiretapeBytes

extension Expectation {
    /// An end after which a client is to stay away: `close(4001)`, `close(4000..4099|4400)`, `status(401|403)`.
    package enum FinalEnd: Hashable, Sendable {
        /// A close frame with one of these codes; none: with any.
        case close(Codes)
        /// An answer with one of these statuses.
        case status(Codes)

        /// Whether the end of a connection, or of an attempt that got none, is one of them.
        func includes(_ end: Attempt.End) -> Bool {
            switch (self, end.how) {
            case (.close(let codes), .close(let code)):
                return codes.ranges.isEmpty || (code.map { codes.contains(Int($0)) } ?? false)
            case (.status(let codes), .status(let status)): return codes.contains(status)
            case (.close, _), (.status, _): return false
            }
        }

        func includes(_ step: Attempt.Step) -> Bool {
            guard case .status(let codes) = self, let status = step.status else { return false }
            return codes.contains(status)
        }

        /// How a rule makes such an end, for hints.
        package var example: String {
            switch self {
            case .close(let codes): "close(\(codes.ranges.first?.lowerBound ?? 1000)) after message[3]"
            case .status(let codes): "respond(\(codes.ranges.first?.lowerBound ?? 401)) on connect[retry=1]"
            }
        }

        /// `close(4001)|status(401)`.
        package static func parse(_ text: String) throws(OptionError) -> [FinalEnd] {
            var ends: [FinalEnd] = []
            for part in PolicyArguments.split(text, at: "|") {
                let name = part.prefix { $0 != "(" }.trimmingBlanks()
                let rest = part.dropFirst(part.prefix { $0 != "(" }.count)
                let inner = rest.hasPrefix("(") && rest.hasSuffix(")") ? String(rest.dropFirst().dropLast()) : ""
                switch name {
                case "close" where rest.isEmpty: ends.append(.close(Codes(ranges: [])))
                case "close": ends.append(.close(try Codes(parsing: inner)))
                case "status": ends.append(.status(try Codes(parsing: inner)))
                default:
                    throw OptionError(
                        "'after' takes close(4001) or status(401), or several with | between, not '\(part)'")
                }
            }
            return ends
        }
    }

    /// Codes of close frames, or statuses: `4001|4400..4499`.
    package struct Codes: Hashable, Sendable {
        package var ranges: [ClosedRange<Int>]

        init(ranges: [ClosedRange<Int>]) { self.ranges = ranges }

        init(parsing text: String) throws(OptionError) {
            ranges = []
            for part in text.split(separator: "|", omittingEmptySubsequences: false).map({ $0.trimmingBlanks() }) {
                let ends = part.firstRange(of: "..").map { dots in [part[..<dots.lowerBound], part[dots.upperBound...]]
                }
                let numbers = (ends ?? [part[...]]).compactMap { Int($0.trimmingBlanks()) }
                guard let low = numbers.first, let high = numbers.last, numbers.count == (ends?.count ?? 1),
                    low <= high,
                    (100...65_535).contains(low), (100...65_535).contains(high)
                else { throw OptionError("'\(part)' is not a code, nor a range of them: 4001, 4400..4499, 4001|4403") }
                ranges.append(low...high)
            }
        }

        package func contains(_ code: Int) -> Bool { ranges.contains { $0.contains(code) } }
    }
}
