internal import WiretapeBytes

/// Every value of a cookie is a secret.
extension Redactor {
    /// The value of a `Cookie` field.
    mutating func cookies(_ value: String) -> String {
        value.split(separator: ";", omittingEmptySubsequences: false).map { cookie(String($0)) }.joined(separator: ";")
    }

    /// The value of a `Set-Cookie` field. The attributes stay.
    mutating func setCookie(_ value: String) -> String {
        var parts = value.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        for index in parts.indices { parts[index] = index == 0 ? cookie(parts[0]) : foldedCookies(parts[index]) }
        return parts.joined(separator: ";")
    }

    /// An attribute of a cookie. A proxy may have joined more `Set-Cookie` fields to it: ` Path=/, b=2`.
    private mutating func foldedCookies(_ attribute: String) -> String {
        guard attribute.contains(",") else { return attribute }
        let parts = attribute.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        // A date has a comma, but no equals sign after it.
        return ([parts[0]] + parts.dropFirst().map { $0.contains("=") ? cookie($0) : $0 }).joined(separator: ",")
    }

    /// ` name=value`.
    private mutating func cookie(_ part: String) -> String {
        guard let equals = part.firstIndex(of: "=") else {
            // A cookie without a name: all of it is the value (RFC 6265bis, section 5.6).
            let value = part.trimmingBlanks()
            guard let new = pseudonym(Array(value.utf8), .cookie, "") else { return part }
            return part.prefix { $0 == " " } + String(decoding: new, as: UTF8.self)
        }
        let name = part[..<equals].trimmingBlanks()
        guard rules.redacts(cookie: name) else { return part }
        let value = part[part.index(after: equals)...].trimmingBlanks()
        let isQuoted = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        let bare = isQuoted ? String(value.dropFirst().dropLast()) : value
        guard let new = pseudonym(Array(bare.utf8), .cookie, name) else { return part }
        let text = String(decoding: new, as: UTF8.self)
        return part[...equals] + (isQuoted ? "\"\(text)\"" : text)
    }
}
