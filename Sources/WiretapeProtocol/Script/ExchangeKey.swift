internal import WiretapeBytes
package import WiretapeWire

/// What two ordinary requests must have in common to get the same answer: method, path, the query's items in any order,
/// and what the body says.
package struct ExchangeKey: Hashable, Sendable {
    /// `GET /api/users`.
    package var place: String
    package var query: [String]
    package var body: ExchangeBody

    package init(place: String, query: [String], body: ExchangeBody) {
        self.place = place
        self.query = query
        self.body = body
    }
}

extension RecordedExchange {
    /// The items of its query, in lower case, that no request has to have.
    package func ignored(_ rules: [IgnoreRule]) -> Set<String> {
        StableQuery.ignored(rules, request.method, [request.path]).union(volatileQuery.map { $0.lowercased() })
    }
}

/// What a request's body says.
package enum ExchangeBody: Hashable, Sendable {
    case none
    /// Canonical text.
    case json(String)
    /// The items of a form, sorted.
    case form([String])
    case bytes([UInt8])

    /// By `Content-Type`; a body that is not what it is called is compared byte for byte. The boundary of a multipart
    /// body is made up by every client anew and plays no part.
    package init(_ bytes: [UInt8], _ headers: [HeaderField], ignoring rules: [IgnoreRule] = []) {
        guard !bytes.isEmpty else {
            self = .none
            return
        }
        let parts = (headers.first("Content-Type") ?? "").split(separator: ";")
        let type = (parts.first ?? "").lowercased().trimmingBlanks()
        if type.hasSuffix("/json") || type.hasSuffix("+json") || type.isEmpty,
            let value = try? JSONValue(parsing: bytes)
        {
            self = .json(rules.reduce(value) { $1.removed(from: $0) }.canonicalText)
        } else if type == "application/x-www-form-urlencoded" {
            // In a form a plus is a blank.
            let text = String(decoding: bytes, as: UTF8.self).replacing("+", with: "%20")
            let head = RequestHead(method: "", target: "?" + text)
            let items = head.query.filter { item in !rules.contains { $0.pointer == "/\(item.name)" } }
            self = .form(items.map { "\($0.name)=\($0.value)" }.sorted())
        } else if type.hasPrefix("multipart/"), let boundary = Self.boundary(parts.dropFirst()) {
            self = .bytes(Self.without(boundary, in: bytes))
        } else {
            self = .bytes(bytes)
        }
    }

    /// For people and for the place of a difference.
    package var value: JSONValue {
        switch self {
        case .none: .null
        case .json(let text): (try? JSONValue(parsing: text)) ?? .string(text)
        case .form(let items):
            .object(
                items.map { item in
                    let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    return JSONValue.Member(String(sides[0]), .string(sides.count > 1 ? String(sides[1]) : ""))
                })
        case .bytes(let bytes): JSONValue(plain: bytes)
        }
    }

    private static func boundary(_ parameters: ArraySlice<Substring>) -> [UInt8]? {
        for parameter in parameters {
            let sides = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingBlanks() }
            guard sides.count == 2, equalIgnoringCase(sides[0], "boundary") else { continue }
            let name = sides[1].filter { $0 != "\"" }
            return name.isEmpty ? nil : Array(name.utf8)
        }
        return nil
    }

    private static func without(_ boundary: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        var at = 0
        while at < bytes.count {
            if bytes[at] == boundary[0], bytes[at...].starts(with: boundary) {
                at += boundary.count
            } else {
                kept.append(bytes[at])
                at += 1
            }
        }
        return kept
    }
}
