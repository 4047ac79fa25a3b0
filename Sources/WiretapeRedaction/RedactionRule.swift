package import WiretapeBytes

/// A place where secrets stand, or do not, in a user's words: `header:X-Door`, `query:pin`, `cookie:theme`, `json:iban`,
/// `json:/arguments/0/pin`, `regex:acct-[0-9]+`.
package enum RedactionRule: Hashable, Sendable {
    /// The value of a header field.
    case header(String)
    /// The value of an item of a query or a form.
    case query(String)
    /// The value of a cookie, in either direction.
    case cookie(String)
    /// The value of a member of that name, wherever it stands.
    case member(String)
    /// What stands at a JSON Pointer in a message, an event or a body; `*` is every member or item of its level.
    case pointer(String)
    /// What a regular expression finds in any text (``Pattern``).
    case pattern(Pattern)

    /// - Throws: when `text` is no rule.
    package init(parsing text: String) throws(OptionError) {
        guard let colon = text.firstIndex(of: ":"), text.index(after: colon) < text.endIndex else {
            throw OptionError("'\(text)' is not a rule; \(RedactionRule.forms)")
        }
        let value = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "header": self = .header(value)
        case "query": self = .query(value)
        case "cookie": self = .cookie(value)
        case "json": self = value.hasPrefix("/") ? .pointer(value) : .member(value)
        case "regex":
            do throws(Pattern.Fault) {
                self = .pattern(try Pattern(value))
            } catch {
                throw OptionError("'\(text)': \(error.reason)")
            }
        default: throw OptionError("'\(text)' is not a rule; \(RedactionRule.forms)")
        }
    }

    package static let forms =
        "write header:NAME, query:NAME, cookie:NAME, json:NAME, json:/pointer or regex:PATTERN, "
        + "for instance json:/arguments/0/pin"
}

/// What is redacted: the places that are known to hold secrets and those of the user's rules, except what is kept.
package struct RedactionRules: Sendable {
    /// The places of a list of rules: names by their hashes.
    private struct Places {
        var headers: Set<UInt64> = []
        var items: Set<UInt64> = []
        var cookies: Set<UInt64> = []
        var members: Set<UInt64> = []
        var pointers: [String] = []
        var patterns: [Pattern] = []

        init(_ rules: [RedactionRule]) {
            for rule in rules {
                switch rule {
                case .header(let name): headers.insert(RedactionRules.hash(name))
                case .query(let name): items.insert(RedactionRules.hash(name))
                case .cookie(let name): cookies.insert(RedactionRules.hash(name))
                case .member(let name): members.insert(RedactionRules.hash(name))
                case .pointer(let pointer): pointers.append(pointer)
                case .pattern(let pattern): patterns.append(pattern)
                }
            }
        }
    }

    private let own: Places
    private let kept: Places
    /// Whether the user has rules of their own.
    package let isOwn: Bool

    package init(_ rules: [RedactionRule] = [], keeping kept: [RedactionRule] = []) {
        isOwn = !rules.isEmpty
        own = Places(rules)
        self.kept = Places(kept)
    }

    package var pointers: [String] { own.pointers }
    package var patterns: [Pattern] { own.patterns }
    package var keptPointers: [String] { kept.pointers }

    private static func hash(_ name: String) -> UInt64 { SecretNames.hash(Array(name.utf8)[...]) }

    /// Whether values of that header field are secrets.
    func redacts(header name: String) -> Bool {
        let name = Array(name.utf8)[...]
        let hash = SecretNames.hash(name)
        return (SecretNames.contains(name, hash: hash) || own.headers.contains(hash)) && !kept.headers.contains(hash)
    }

    package func keeps(header name: String) -> Bool {
        !kept.headers.isEmpty && kept.headers.contains(RedactionRules.hash(name))
    }

    func redacts(item name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= SecretNames.longest else { return false }
        let hash = SecretNames.hash(name)
        return (SecretNames.contains(name, hash: hash) || own.items.contains(hash)) && !kept.items.contains(hash)
    }

    func redacts(member name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= SecretNames.longest else { return false }
        let hash = SecretNames.hash(name)
        return (SecretNames.contains(name, hash: hash) || own.members.contains(hash)) && !kept.members.contains(hash)
    }

    /// Cookies are secrets, all of them.
    func redacts(cookie name: String) -> Bool { !kept.cookies.contains(RedactionRules.hash(name)) }

    package func keeps(value: [UInt8]) -> Bool {
        !kept.patterns.isEmpty && kept.patterns.contains { $0.ranges(in: value).contains(0..<value.count) }
    }

    /// Whether more bytes may make a name of a secret of it.
    func mayBegin(name: ArraySlice<UInt8>) -> Bool {
        SecretNames.mayBegin(name) || name.count <= SecretNames.longest && !(own.items.isEmpty && own.members.isEmpty)
    }
}
