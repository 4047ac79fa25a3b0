package import WiretapeBytes
package import WiretapeProtocol

/// `--server-limits`: how patient the server is that replay plays.
package enum ServerLimitsOption: Hashable, Sendable {
    /// As the protocol's servers are, and never stricter than the recorded one was.
    case `protocol`
    case off
    /// As before, but for these.
    case numbers(Numbers)

    package struct Numbers: Hashable, Sendable {
        package var times: [ServerLimits.Limit: UInt64] = [:]
        package var message: Int?

        package init() {}

        func apply(to limits: inout ServerLimits) {
            limits.handshake = times[.handshake] ?? limits.handshake
            limits.silence = times[.silence] ?? limits.silence
            limits.pong = times[.pong] ?? limits.pong
            limits.message = message ?? limits.message
        }
    }

    /// `protocol`, `off`, or `silence=30s, handshake=15s, pong=30s, message=32KiB`.
    package init(parsing text: String) throws(OptionError) {
        switch text {
        case "protocol": self = .protocol
        case "off": self = .off
        default: self = .numbers(try Numbers(parsing: text))
        }
    }
}

extension ServerLimitsOption.Numbers {
    fileprivate init(parsing text: String) throws(OptionError) {
        self.init()
        let known = ServerLimits.Limit.allCases.map(\.rawValue)
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = (sides.first ?? "").trimmingBlanks()
            guard sides.count == 2, let limit = ServerLimits.Limit(rawValue: name) else {
                let hint = NearestName.hint(name, among: ["protocol", "off"] + known)
                let usable =
                    "; use protocol, off, or numbers such as silence=30s, handshake=15s, pong=30s, message=32KiB"
                throw OptionError("'\(part.trimmingBlanks())' is no limit of a server\(hint.isEmpty ? usable : hint)")
            }
            let value = sides[1].trimmingBlanks()
            if times[limit] != nil || limit == .message && message != nil {
                throw OptionError("'\(text)' has '\(name)' twice")
            }
            if limit == .message {
                message = try Self.size(value)
            } else if let time = DurationText.parse(value), time > 0 {
                times[limit] = time
            } else {
                throw OptionError("'\(name)' is a duration above 0 such as 30s, not '\(value)'")
            }
        }
    }

    private static func size(_ text: String) throws(OptionError) -> Int {
        if let size = ByteSize.parse(text) { return size }
        throw OptionError("'message' is a size above 0 such as 32KiB or 40000, not '\(text)'")
    }
}
