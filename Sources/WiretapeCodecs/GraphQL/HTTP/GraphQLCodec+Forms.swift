internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

/// A server's message on another carrier, or in another dialect, than it was recorded with.
extension GraphQLCodec {
    /// Whether the recorded bytes are what this carrier and this client's dialect have, but for the id.
    func isNative(_ message: Message, id: String, on transport: Transport) -> Bool {
        if message.direction == .toServer {
            return message.content["extensions"]?["operationId"] == nil || id == message.chain?.id
        }
        let own = GraphQLForm(of: message.content)
        // What came as a part of either dialect goes out as it came.
        if transport == .multipart, own == .part || GraphQLCodec.isIncremental(message.content) { return true }
        // JSON lines need each result on one line. A result with line breaks is encoded again without them.
        if transport == .stream, message.bytes.dropLast().contains(UInt8(ascii: "\n")) { return false }
        let form = GraphQLForm(transport, part: partForm)
        guard own == form else { return false }
        guard form == .named else { return true }
        if transport == .ws, recordedDialect != nil, message.kind == "error" { return false }
        let name = transport == .ws ? dialect?.name(of: message.kind) ?? message.type : message.kind
        return name == message.type && (message.content["id"] != nil) == !id.isEmpty
    }

    /// Appends the message anew.
    /// - Parameter id: the live one; empty when the operation has a connection of its own.
    func rewrite(_ message: Message, id: String, on transport: Transport, into out: inout [UInt8]) {
        if message.direction == .toServer { return reask(message, id, into: &out) }
        let payload = GraphQLForm(of: message.content).payload(of: message)
        let errors = GraphQLCodec.errors(payload)
        switch (form(of: payload, on: transport), message.kind) {
        case (.part, "next"): JSONValue.object([.init("payload", payload)]).write(into: &out)
        case (.part, "error"):
            JSONValue.object([.init("payload", .null), .init("errors", .array(errors))]).write(into: &out)
        case (.part, "complete"): out += GraphQLCodec.operationEnd
        case (.part, _): out.append(utf8: "{}")
        case (.single, "next"): payload.write(into: &out)
        case (.single, "error"): JSONValue.object([.init("errors", .array(errors))]).write(into: &out)
        case (.single, _): out += GraphQLCodec.operationEnd
        case (.named, _): named(message, id, payload, errors, transport).write(into: &out)
        }
    }

    /// The form in which a result goes out: those of incremental delivery are never wrapped.
    private func form(of payload: JSONValue, on transport: Transport) -> GraphQLForm {
        GraphQLForm(transport, part: GraphQLCodec.isIncremental(payload) ? .single : partForm)
    }

    /// Whether it is one of the results that an operation with `@defer` or `@stream` has several of.
    static func isIncremental(_ result: JSONValue) -> Bool { result["hasNext"] != nil || result["incremental"] != nil }

    /// A request over a single connection has its id among the extensions.
    private func reask(_ message: Message, _ id: String, into out: inout [UInt8]) {
        var content = message.content
        var extensions = content["extensions"] ?? .object([])
        extensions["operationId"] = GraphQLID.value(id)
        content["extensions"] = extensions
        content.write(into: &out)
    }

    private func named(
        _ message: Message, _ id: String, _ payload: JSONValue, _ errors: [JSONValue], _ transport: Transport
    ) -> JSONValue {
        let dialect = transport == .ws ? dialect ?? .transportWS : .transportWS
        var members: [JSONValue.Member] = []
        if !id.isEmpty { members.append(.init("id", GraphQLID.value(id))) }
        members.append(.init("type", .string(dialect.name(of: message.kind))))
        switch message.kind {
        case "complete": break
        case "error": members.append(.init("payload", dialect.payload(ofErrors: errors)))
        default: members.append(.init("payload", payload))
        }
        return .object(members)
    }

    /// One payload as an event, a part or a whole body. Empty: a sign of life.
    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        switch transport {
        case .sse: event(bytes, into: &out)
        case .multipart:
            var answer = MultipartAnswer(multipart)
            part(payload, of: &answer, into: &out)
        case .http where bytes == operationEnd, .stream where bytes == operationEnd: break
        case .stream:
            out += bytes
            // A recorded line ends with a newline already.
            if bytes.last != UInt8(ascii: "\n") { out.append(UInt8(ascii: "\n")) }
        case .http, .ws, .lp: out += bytes
        }
    }

    private static func event(_ payload: [UInt8], into out: inout [UInt8]) {
        guard !payload.isEmpty else { return out.append(utf8: ":\n\n") }
        var (type, id): ([UInt8], [UInt8]) = ([], [])
        for place in JSONMembers(of: payload).places {
            switch place.name {
            case "type": type = Array(payload[place.value].dropFirst().dropLast())
            case "id": id = Array(payload[place.value])
            default: break
            }
        }
        // What a rule put there, and no message of ours.
        guard !type.isEmpty else { return event("next".utf8, [], payload, into: &out) }
        let place = result(in: payload)
        let result = place.map { Array(payload[$0]) } ?? []
        if type == Array("error".utf8) {
            // There is no such event: errors are the last result.
            event("next".utf8, id, Array("{\"errors\":".utf8) + result + [UInt8(ascii: "}")], into: &out)
            return event("complete".utf8, id, [], into: &out)
        }
        event(type, id, result, into: &out)
    }

    /// What an event shows of a message besides its id is the value of `payload`, also of one that is damaged.
    package static func content(of payload: [UInt8], on transport: Transport) -> Range<Int> {
        guard transport == .sse, let place = result(in: payload) else { return payload.indices }
        return place
    }

    /// The value of `payload`. Where that is no JSON any more, it is all up to the last bracket.
    private static func result(in payload: [UInt8]) -> Range<Int>? {
        let key = Array("\"payload\":".utf8)
        guard let start = payload.firstRange(of: key)?.upperBound else { return nil }
        if let place = JSONMembers(of: payload).places.first(where: { $0.name == "payload" }) {
            let rest = payload[place.value.upperBound...]
            if rest.first == UInt8(ascii: ",") || rest.elementsEqual("}".utf8) { return place.value }
        }
        return start..<max(start, payload.count - 1)
    }

    private static func event(
        _ name: some Sequence<UInt8>, _ id: [UInt8], _ result: [UInt8], into out: inout [UInt8]
    ) {
        var data = result
        if !id.isEmpty {
            data = Array("{\"id\":".utf8) + id
            if !result.isEmpty { data += Array(",\"payload\":".utf8) + result }
            data.append(UInt8(ascii: "}"))
        }
        out.append(utf8: "event: ")
        out.append(contentsOf: name)
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
            out.append(utf8: line.isEmpty ? "\ndata:" : "\ndata: ")
            out.append(contentsOf: line)
        }
        out.append(utf8: "\n\n")
    }

    /// The last part of a subscription that fails has no payload, that of incremental delivery says that it is the last.
    package static func part(_ payload: Span<UInt8>, of answer: inout MultipartAnswer, into out: inout [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        guard bytes != operationEnd else { return answer.end(into: &out) }
        let places = JSONMembers(of: bytes).places
        let says = { (name: String, value: String) in
            places.contains { $0.name == name && bytes[$0.value].elementsEqual(value.utf8) }
        }
        let hasFailed = says("payload", "null") && places.contains { $0.name == "errors" }
        answer.part(payload, isLast: hasFailed || says("hasNext", "false"), into: &out)
    }

    /// Clients know no other boundary, or read it from the head.
    static let boundary = "graphql"
    static let multipart = MultipartWriter(boundary: boundary)
}

extension GraphQLDialect {
    /// What the dialect calls a message.
    /// - Parameter kind: its name in `graphql-transport-ws`.
    func name(of kind: String) -> String {
        switch (self, kind) {
        case (.legacy, "next"): "data"
        case (.older, "connection_error"): "init_fail"
        case (.older, "start_ack"): "subscription_success"
        case (.older, "next"): "subscription_data"
        case (.older, "error"): "subscription_fail"
        case (.older, "connection_ack"): "init_success"
        case (.transportWS, _), (.legacy, _), (.older, _): kind
        }
    }

    /// The `payload` of the message that ends an operation with errors.
    func payload(ofErrors errors: [JSONValue]) -> JSONValue {
        switch self {
        case .transportWS: .array(errors)
        case .legacy: errors.first ?? .object([.init("message", .string("unknown error"))])
        case .older: .object([.init("errors", .array(errors))])
        }
    }
}
