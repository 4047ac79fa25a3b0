internal import WiretapeBytes

/// What the head of an answer has that would lead a client away from us, made so that it leads back: addresses of servers,
/// cookies of their domains, what tells a client to come by TLS or another protocol the next time.
package struct LeadingBack {
    /// Of the server whose answer it is.
    private let server: WebOrigin
    /// Whether the client came over TLS.
    private let isTLS: Bool
    /// Whether the client takes us for a proxy: then addresses and domains are right as they are.
    private let isForward: Bool
    /// Fields with addresses, beside the known ones; in lower case.
    private let fields: Set<String>
    /// The authority of ours that stands for a server; nil: the client goes there by itself.
    private let place: (WebOrigin) -> String?
    /// The origin of the client's page as the server heard it, and as it is.
    private let page: (told: String, own: String)?

    package init(
        server: WebOrigin, isTLS: Bool, isForward: Bool = false, fields: Set<String> = [],
        page: (told: String, own: String)? = nil, place: @escaping (WebOrigin) -> String?
    ) {
        self.server = server
        self.isTLS = isTLS
        self.isForward = isForward
        self.fields = fields
        self.page = page
        self.place = place
    }

    /// Whether a head has a field that may lead away. Most have none, and are left alone.
    package static func concerns(_ headers: [HeaderField], _ fields: Set<String>) -> Bool {
        for field in headers {
            let name = field.name
            switch name.utf8.count {
            case 7: if equalIgnoringCase(name, "refresh") || equalIgnoringCase(name, "alt-svc") { return true }
            case 8: if equalIgnoringCase(name, "location") { return true }
            case 10: if equalIgnoringCase(name, "set-cookie") { return true }
            case 16: if equalIgnoringCase(name, "content-location") { return true }
            case 25: if equalIgnoringCase(name, "strict-transport-security") { return true }
            case 27: if equalIgnoringCase(name, "access-control-allow-origin") { return true }
            default: break
            }
            if !fields.isEmpty, fields.contains(name.lowercased()) { return true }
        }
        return false
    }

    /// What becomes of a field of the answer.
    package func edit(_ name: String, _ value: String) -> FieldEdit {
        let name = name.lowercased()
        switch name {
        case "location", "content-location": return url(value).map(FieldEdit.value) ?? .keep
        case "refresh": return refresh(value).map(FieldEdit.value) ?? .keep
        case "set-cookie":
            let edited = cookie(value)
            return edited == value ? .keep : .value(edited)
        case "alt-svc", "strict-transport-security": return isForward ? .keep : .drop
        case "access-control-allow-origin":
            guard let page, equalIgnoringCase(page.told, value) else { return .keep }
            return .value(page.own)
        default:
            guard fields.contains(name) else { return .keep }
            return url(value).map(FieldEdit.value) ?? .keep
        }
    }

    /// The same fields as `edit` has them.
    package func edited(_ headers: [HeaderField]) -> [HeaderField] {
        headers.compactMap { field in
            switch edit(field.name, field.value) {
            case .keep: field
            case .drop: nil
            case .value(let value): HeaderField(field.name, value)
            }
        }
    }

    /// Where an absolute URL leads with us in between. Nil: it stays as it is.
    package func url(_ text: String) -> String? {
        guard !isForward, let url = WebURL(text, saidOverTLS: server.isTLS), let authority = place(url.origin) else {
            return nil
        }
        return url.at(authority, isTLS: isTLS)
    }

    /// `5; url=https://chat.example.com/`, also in quotes.
    private func refresh(_ value: String) -> String? {
        let lowered = value.utf8.map { $0 | 0x20 }
        guard let mark = lowered.firstRange(of: Array("url=".utf8)) else { return nil }
        let start = value.utf8.index(value.utf8.startIndex, offsetBy: mark.upperBound)
        let quoted = value[start...].trimmingBlanks()
        let quote = quoted.first.flatMap { "\"'".contains($0) ? $0 : nil }
        let text = quote.map { quote in String(quoted.dropFirst().prefix { $0 != quote }) } ?? String(quoted)
        guard let new = url(text) else { return nil }
        let around = quote.map(String.init) ?? ""
        return value[..<start] + around + new + around
    }

    /// A cookie for the host that the client knows, over the scheme by which it came: without `Domain`; over plain HTTP also
    /// without `Secure`, and without what browsers take with `Secure` only (`SameSite=None`, `Partitioned`).
    private func cookie(_ value: String) -> String {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false)
        let kept = parts.enumerated().filter { i, part in
            guard i > 0 else { return true }
            let attribute = part.trimmingBlanks().lowercased()
            let name = attribute.prefix { $0 != "=" }.trimmingBlanks()
            if name == "domain" { return isForward }
            guard !isTLS else { return true }
            return !(name == "secure" || name == "partitioned" || name == "samesite" && attribute.hasSuffix("none"))
        }
        return kept.count == parts.count ? value : kept.map { String($0.element) }.joined(separator: ";")
    }

    /// The name of a cookie whose prefix asks for what a client that came over plain HTTP cannot have; nil: it has none.
    package static func impossibleOverPlain(_ setCookie: String) -> String? {
        let name = setCookie.prefix { $0 != "=" && $0 != ";" }.trimmingBlanks()
        let lowered = name.lowercased()
        return lowered.hasPrefix("__host-") || lowered.hasPrefix("__secure-") ? String(name) : nil
    }
}

/// What becomes of a header field.
package enum FieldEdit: Hashable, Sendable {
    case keep
    case drop
    case value(String)
}
