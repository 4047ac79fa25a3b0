internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeWire

/// `--format json`: one object a decoded message, one line each. Other rows are left out, but for requests that a filter
/// asks for.
package struct JSONFormat: InspectFormat {
    private let hasRequests: Bool

    package init(hasRequests: Bool = false) { self.hasRequests = hasRequests }

    package var isJSON: Bool { true }

    package func append(_ row: InspectRow, into out: inout String) {
        if hasRequests, let request = row.request { out += JSONFormat.object(request, of: row).text + "\n" }
        guard let decoded = row.message else { return }
        out += JSONFormat.object(decoded).text + "\n"
    }

    private static func object(_ request: RequestHead, of row: InspectRow) -> JSONValue {
        .object([
            .init("event", .number(row.event)),
            .init("t_ms", .number(DurationText.milliseconds(row.time))),
            .init("c", .number(row.connection)),
            .init("d", .string(Direction.toServer.mark)),
            .init("type", .string("request")),
            .init("method", .string(request.method)),
            .init("target", .string(request.target)),
            .init(
                "headers", .array(request.headers.map { .array([.string($0.name), .string($0.value)]) })),
            .init("summary", .string(row.text)),
        ])
    }

    /// The members of `docs/events.md`, with when and where.
    package static func object(_ decoded: DecodedMessage) -> JSONValue {
        .object(
            [
                .init("event", .number(decoded.event)),
                .init("t_ms", .number(DurationText.milliseconds(decoded.time))),
                .init("c", .number(decoded.connection)),
                .init("session", .number(decoded.session)),
            ] + decoded.jsonMembers)
    }
}
