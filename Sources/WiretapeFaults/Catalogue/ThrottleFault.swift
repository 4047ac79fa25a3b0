internal import WiretapeBytes

/// `throttle(10kB/s)`: a slow link.
enum ThrottleFault {
    private static let units: [(String, Double)] = [
        ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1), ("/s", 1), ("", 1),
    ]

    package static let entry = FaultEntry(
        word: "throttle",
        summary: "so many bytes a second to the client on this connection: 500, 500B/s, 20kB/s, 1MB/s",
        examples: ["throttle(20kB/s) on accept", "throttle(500B/s, 10s) after handshake"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        guard let rate = reader.next("rate") else {
            throw reader.error("throttle needs a rate: throttle(20kB/s)")
        }
        let digits = rate.value.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = rate.value[digits.endIndex...]
        guard let value = Double(digits), let scale = units.first(where: { $0.0 == unit })?.1,
            value * scale >= 1, value * scale <= 1e12
        else { throw text.error("'\(rate.value)' is not a rate such as 500B/s, 20kB/s or 1MB/s", at: rate.at) }
        let bytes = UInt64(value * scale)
        let duration = try reader.duration("for")
        try reader.finish("a rate and a duration")
        let shown = duration.map { ", \(DurationText.describe($0))" } ?? ""
        return (.throttle(bytes, for: duration), spelled(bytes) + shown)
    }

    private static func spelled(_ rate: UInt64) -> String {
        if rate % 1_000_000 == 0 { return "\(rate / 1_000_000)MB/s" }
        return rate % 1_000 == 0 ? "\(rate / 1_000)kB/s" : "\(rate)B/s"
    }
}
