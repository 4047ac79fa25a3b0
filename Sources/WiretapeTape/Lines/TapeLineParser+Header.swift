package import WiretapeProtocol
internal import WiretapeWire

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
