internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// What a client asks for, whatever carries it: the request of a WebSocket message, of a POST body, of a query string.
struct GraphQLOperation: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case query, mutation, subscription
    }

    /// Nil when it cannot be told: a persisted query, a text that is no document.
    var kind: Kind?
    /// `operationName`, or the name of the document's only operation.
    var name: String?
    /// The first field of the operation.
    var field: String?
    /// The document in one spelling for all that mean the same; the text itself when it is no document.
    var query: String?
    /// The hash of a persisted query (`extensions.persistedQuery.sha256Hash`), when there is no query.
    var hash: String?
    /// The document has `@defer` or `@stream`.
    var asksForPieces = false
    /// Empty when absent or null.
    var variables: [JSONValue.Member]

    /// - Parameter request: an object with `query`, `operationName`, `variables` and `extensions`, all optional here.
    init(_ request: JSONValue) {
        name = request["operationName"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        variables = request["variables"]?.members ?? []
        guard let text = request["query"]?.string, !text.isEmpty else {
            hash = request["extensions"]?["persistedQuery"]?["sha256Hash"]?.string
            return
        }
        guard let document = try? GraphQLDocument(text) else {
            query = text
            return
        }
        query = document.canonicalText
        asksForPieces = document.asksForPieces
        guard let operation = document.operation(named: name) else { return }
        kind = operation.kind
        name = name ?? operation.name
        field = operation.field
    }

    /// Of a client's request, whatever carried it.
    init(of message: Message) { self.init(message.meaning["payload"] ?? .null) }

    /// What rules name it by: its name, or the first field of an operation without one.
    var label: String? { name ?? field }

    /// Whether at most one result answers it, as long as its server does not deliver in pieces.
    var hasSingleResult: Bool { kind == .query || kind == .mutation }

    /// Kind, name, document and variables at the places where they stand in a WebSocket message.
    var meaning: JSONValue {
        var payload: [JSONValue.Member] = []
        if let name { payload.append(.init("operationName", .string(name))) }
        if let query { payload.append(.init("query", .string(query))) }
        if !variables.isEmpty { payload.append(.init("variables", .object(variables))) }
        if let hash {
            let persisted = JSONValue.object([.init("sha256Hash", .string(hash))])
            payload.append(.init("extensions", .object([.init("persistedQuery", persisted)])))
        }
        return .object([.init("payload", .object(payload))])
    }

    /// `OnTick(limit: 3)`, `query Hello(name: "ada")`, `query 5f0c1a22…` for a persisted one without a name.
    var summary: String {
        var text = kind.map { $0 == .subscription ? "" : "\($0.rawValue) " } ?? ""
        text += label ?? hash.map { "persisted \($0.prefix(8))…" } ?? query ?? "without a query"
        guard !variables.isEmpty else { return Summary.line(text) }
        text += "("
        for (i, variable) in variables.enumerated() {
            if text.utf8.count > Summary.limit * 4 { break }
            text += "\(i == 0 ? "" : ", ")\(variable.name): \(variable.value.text)"
        }
        return Summary.line(text + ")")
    }
}
