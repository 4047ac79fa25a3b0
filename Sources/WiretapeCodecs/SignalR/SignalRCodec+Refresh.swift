internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Authentication refresh (ASP.NET Core 11): `POST {hub}/refresh` with the connection token in a header.
extension SignalRCodec {
    static let refreshHeader = "X-SignalR-Connection-Token"
    private static let refreshSuffix = "/refresh"
    private static let lifetimeMember = "tokenLifetimeSeconds"

    package static func refreshRoute(_ request: RequestHead) -> String? {
        guard request.path.hasSuffix(refreshSuffix) else { return nil }
        var route = request.path.dropLast(refreshSuffix.count)
        while route.hasSuffix("/") { route = route.dropLast() }
        return route.isEmpty ? "/" : String(route)
    }

    package static func credentialLifetime(in body: [UInt8]) -> Int? {
        guard let object = try? JSONValue(parsing: body) else { return nil }
        return object[lifetimeMember]?.int
    }

    package static func replacingLifetime(in body: [UInt8], with lifetime: Int) -> [UInt8]? {
        guard var object = try? JSONValue(parsing: body), object[lifetimeMember] != nil else { return nil }
        object[lifetimeMember] = .number(lifetime)
        return Array(object.text.utf8)
    }

    /// A negotiation in version 0 gives no connection token.
    package static func mayRefresh(_ negotiation: StreamOpening) -> Bool {
        (try? JSONValue(parsing: negotiation.responseBody))?["connectionToken"] != nil
    }

    package static func refreshResponse(for outcome: RefreshOutcome) -> HTTPAnswer {
        switch outcome {
        case .renewed(let lifetime): json(200, .init(lifetimeMember, .number(lifetime)))
        case .missingConnection: json(400, .init("error", .string("missing_connection_token")))
        case .unknownConnection: json(404, .init("error", .string("connection_not_found")))
        case .oldVersion: json(400, .init("error", .string("unsupported_negotiate_version")))
        case .notAllowed: HTTPAnswer(status: 405, headers: [HeaderField("Allow", "POST")])
        }
    }

    private static func json(_ status: Int, _ member: JSONValue.Member) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "application/json")],
            body: Array(JSONValue.object([member]).text.utf8))
    }
}
