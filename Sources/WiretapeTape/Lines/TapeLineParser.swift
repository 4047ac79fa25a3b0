internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeWire

/// Reads the lines of events (`docs/tape-format.md`). Unknown keys are skipped, unknown kinds come as such.
package struct TapeLineParser {
    /// Whether the tape is a sparse one: `e`, `c`, `t` and `op` may be left out, `after` moves the time.
    private let isSparse: Bool
    /// `t` of the last line.
    private var lastTime: UInt64 = 0

    package init(sparse: Bool = false) {
        isSparse = sparse
    }

    /// - Returns: the event, and whether its payload came as `json`, which the codec has to frame.
    package mutating func parse(_ line: Span<UInt8>) throws(TapeLineFault) -> (event: TapeEvent, isUnframed: Bool) {
        let fields = try TapeFields(parsing: line)
        guard let kind = fields.kind ?? (isSparse ? "message" : nil) else { throw TapeLineFault("no \"e\"", at: 0) }
        let connection = fields.connection ?? (isSparse ? 1 : 0)
        guard let connection = UInt32(exactly: connection) else { throw TapeLineFault("\"c\" is too large", at: 0) }
        let time = try time(fields)
        let event = TapeEvent(time: time, connection: connection, try Self.kind(kind, fields, isSparse: isSparse))
        if case .take = event.kind { lastTime = 0 } else { lastTime = time }
        return (event, fields.encoding == .json)
    }

    private func time(_ fields: TapeFields) throws(TapeLineFault) -> UInt64 {
        if let time = fields.time { return time }
        guard isSparse else { throw TapeLineFault("no \"t\"", at: 0) }
        guard let after = fields.after else { return lastTime }
        guard let gap = Self.nanoseconds(after) else {
            throw TapeLineFault("\"after\" is no time such as \"250ms\" or \"1.5s\"", at: 0)
        }
        let (sum, over) = lastTime.addingReportingOverflow(gap)
        return over ? .max : sum
    }

    /// `1s`, `250ms`, `1.5m`: a number and one of ns, us, ms, s, m, h.
    package static func nanoseconds(_ text: String) -> UInt64? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let units: [(name: String, nanoseconds: Double)] = [
            ("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9),
        ]
        guard let unit = units.first(where: { $0.name == text.dropFirst(number.count) }), let value = Double(number)
        else { return nil }
        let nanoseconds = value * unit.nanoseconds
        return nanoseconds < 9e18 ? UInt64(nanoseconds) : nil
    }
}

/// Why a line is not an event, and where in it.
package struct TapeLineFault: Error, Hashable, Sendable {
    package var reason: String
    /// Offset of the offending byte within the line.
    package var offset: Int

    package init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension TapeLineParser {
    /// The first line of a tape.
    /// - Returns: nil when it is no header: not JSON, or without `tape`. A header of a newer version has little more than
    ///   its ``TapeHeader/version``: whether to go on is the caller's to decide.
    package static func header(_ line: Span<UInt8>) -> TapeHeader? {
        guard let value = try? JSONValue(parsing: line), let version = value["tape"]?.int, version > 0 else {
            return nil
        }
        return TapeHeader(
            version: version, started: value["started"]?.string, tool: value["tool"]?.string,
            mode: value["mode"]?.string,
            upstreams: (value["upstreams"]?.members ?? []).compactMap { member in
                member.value.string.map { (member.name, $0) }
            },
            redaction: value["redaction"]?.string, protocolID: value["protocol"]?.string, route: value["route"]?.string)
    }
}
