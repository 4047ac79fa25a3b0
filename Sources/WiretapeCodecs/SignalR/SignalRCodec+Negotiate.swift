internal import WiretapeBytes
internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension SignalRCodec {
    /// The newest version of the negotiation that servers have.
    private static let negotiateVersion = 1

    /// What an answer says of the session; everything else in it is handed on as it was recorded.
    private static let ownMembers: Set<String> = [
        "useStatefulReconnect", "negotiateVersion", "url", "accessToken", "connectionId", "connectionToken",
        "availableTransports", "error",
    ]

    /// Answers as the server does: versions above ours are clamped, those that are no number get an error with status
    /// 200, other methods than POST get 405. A version 0 answer has one id for both. A stateful reconnect is granted when
    /// the client asks for it, the recorded server granted it, and WebSockets are offered.
    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? {
        guard kind(request) == .negotiate else { return nil }
        guard request.method == "POST" else { return answer(.notAllowed, to: request) }
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
        let before = recorded.flatMap { try? JSONValue(parsing: $0.responseBody) }
        var members: [JSONValue.Member] = []
        let wantsState = query(request, "useStatefulReconnect").contains { equalIgnoringCase($0, "true") }
        if wantsState, transports.contains(.ws), before?["useStatefulReconnect"]?.bool == true {
            members.append(.init("useStatefulReconnect", .bool(true)))
        }
        members.append(.init("negotiateVersion", .number(version)))
        if version == 0 {
            members.append(.init("connectionId", .string(ids.token)))
        } else {
            members.append(.init("connectionId", .string(ids.connectionID)))
            members.append(.init("connectionToken", .string(ids.token)))
        }
        members.append(.init("availableTransports", .array(offers(transports))))
        members += before?.members?.filter { !ownMembers.contains($0.name) } ?? []
        return json(.object(members))
    }

    /// The recorded answer: path, query and token of its `url` as they were.
    package static func redirect(_ request: RequestHead, recorded: StreamOpening) -> HTTPAnswer? {
        guard kind(request) == .negotiate, request.method == "POST",
            let body = try? JSONValue(parsing: recorded.responseBody), body["url"]?.string != nil
        else { return nil }
        return json(body)
    }

    package static func mayLeadAway(_ request: RequestHead) -> Bool {
        guard request.method == "POST" else { return false }
        return request.target.utf8.prefix { $0 != UInt8(ascii: "?") }.suffix(10).elementsEqual("/negotiate".utf8)
    }

    package static func leading(_ body: [UInt8], _ led: (String) -> String?) -> [UInt8]? {
        guard var answer = try? JSONValue(parsing: body), let url = answer["url"]?.string, let new = led(url) else {
            return nil
        }
        answer["url"] = .string(new)
        return Array(answer.text.utf8)
    }

    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? {
        kind(request) == .negotiate ? json(.object([.init("error", .string(reason))])) : nil
    }

    /// A server grants stateful reconnects with WebSockets only.
    package static func negotiation(_ answer: [UInt8], without transports: Set<Transport>) -> [UInt8]? {
        guard var body = try? JSONValue(parsing: answer), let offered = body["availableTransports"]?.array else {
            return nil
        }
        let gone = known.filter { transports.contains($0.0) }.map(\.1)
        let left = offered.filter { one in one["transport"]?.string.map { !gone.contains($0) } ?? true }
        guard left.count < offered.count else { return nil }
        body["availableTransports"] = .array(left)
        if transports.contains(.ws), body["useStatefulReconnect"] != nil { body["useStatefulReconnect"] = .bool(false) }
        return Array(body.text.utf8)
    }

    /// In the order in which servers list them.
    private static let known: [(Transport, String, [String])] = [
        (.ws, "WebSockets", ["Text", "Binary"]), (.sse, "ServerSentEvents", ["Text"]),
        (.lp, "LongPolling", ["Text", "Binary"]),
    ]

    private static func offers(_ transports: [Transport]) -> [JSONValue] {
        known.filter { transports.contains($0.0) }.map { _, name, formats in
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
