package import WiretapeCore

extension SignalRCodec {
    /// The newest version of the negotiation that servers have.
    private static let negotiateVersion = 1

    /// Answers as the server does: versions above ours are clamped, those that are no number get an error with status
    /// 200, other methods than POST get 405. A version 0 answer has one id for both.
    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? {
        guard kind(request) == .negotiate else { return nil }
        guard request.method == "POST" else {
            return HTTPAnswer(status: 405, headers: [HeaderField("Allow", "POST")])
        }
        var version = 0
        let asked = query(request, "negotiateVersion")
        if !asked.isEmpty {
            guard let number = Int32(asked.joined(separator: ",").trimmingBlanks()) else {
                return refuseNegotiate(request, reason: "The client requested a non-integer protocol version.")
            }
            guard number >= 0 else {
                return refuseNegotiate(
                    request,
                    reason: "The client requested version '\(number)', but the server does not support this version.")
            }
            version = min(Int(number), negotiateVersion)
        }
        var members: [JSONValue.Member] = [.init("negotiateVersion", .number(version))]
        if version == 0 {
            members.append(.init("connectionId", .string(ids.token)))
        } else {
            members.append(.init("connectionId", .string(ids.connectionID)))
            members.append(.init("connectionToken", .string(ids.token)))
        }
        members.append(.init("availableTransports", .array(offers(transports))))
        return json(.object(members))
    }

    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? {
        kind(request) == .negotiate ? json(.object([.init("error", .string(reason))])) : nil
    }

    /// In the order in which servers list them.
    private static func offers(_ transports: [Transport]) -> [JSONValue] {
        let known: [(Transport, String, [String])] = [
            (.ws, "WebSockets", ["Text", "Binary"]), (.sse, "ServerSentEvents", ["Text"]),
            (.lp, "LongPolling", ["Text", "Binary"]),
        ]
        return known.filter { transports.contains($0.0) }.map { _, name, formats in
            .object([
                .init("transport", .string(name)),
                .init("transferFormats", .array(formats.map(JSONValue.string))),
            ])
        }
    }

    private static func json(_ value: JSONValue) -> HTTPAnswer {
        HTTPAnswer(
            status: 200, reason: "OK", headers: [HeaderField("Content-Type", "application/json")],
            body: Array(value.text.utf8))
    }
}
