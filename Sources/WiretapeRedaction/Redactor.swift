internal import WiretapeWire

/// Finds the secrets in what passes and puts numbered pseudonyms in their place. It is fed decoded units (a head, a body,
/// a message, the pieces of a stream) and gives them back without secrets; what has none comes back byte for byte.
///
/// A secret is what stands in a place where secrets stand (``SecretNames``, the payload of `connection_init`), what looks
/// like one wherever it stands (JSON Web Tokens, keys of well-known services, private keys), what the user's rules name,
/// and from then on the same bytes anywhere. Its state is private and stays in memory: nothing of a secret, no hash
/// either, leaves it.
///
/// Time is proportional to the bytes, memory to ``SecretTable/mostBytes``. Bad input of any kind is text like any other.
package struct Redactor: Sendable {
    package let rules: RedactionRules
    private var table: SecretTable
    /// What was found, when it is asked for.
    package private(set) var findings: [SecretFinding] = []
    private let keepsFindings: Bool
    /// Secrets that were replaced, each time counted.
    package private(set) var replaced = 0
    /// Units that could not be looked at and were left out.
    package private(set) var withheld = 0
    /// Secrets that were replaced in bytes of no known form.
    var changedBytes = 0
    /// The counts at the last call of ``takeTroubles()``.
    private var taken = (unnumbered: 0, withheld: 0)
    /// Other numbers for pseudonyms, where that is all that is asked for; nil: secrets are looked for.
    let renumbering: [Int: Int]?
    /// Numbers of the pseudonyms that were met while they were given others.
    package internal(set) var numbers: Set<Int> = []

    /// How deep texts within texts are looked at: JSON in a string of JSON.
    package static let deepest = 16
    /// Of a secret, or a string, that has no end yet, and of a piece of a stream that waits for one. A string that is longer
    /// is left out: JSON may be within it.
    static let longestHeld = 256 << 10
    /// What can be read only as a whole (MessagePack in pieces) is held up to this size; of a longer one nothing is shown.
    package static let longestUnit = 16 << 20

    /// - Parameters:
    ///   - first: the number of the first pseudonym.
    ///   - keepsFindings: for reports on what a tape holds.
    package init(_ rules: RedactionRules = RedactionRules(), first: Int = 1, keepsFindings: Bool = false) {
        self.rules = rules
        table = SecretTable(first: first)
        self.keepsFindings = keepsFindings
        renumbering = nil
    }

    /// Looks for no secrets, but gives pseudonyms other numbers, in all places where secrets would be replaced.
    package init(renumbering: [Int: Int]) {
        rules = RedactionRules()
        table = SecretTable()
        keepsFindings = false
        self.renumbering = renumbering
    }

    package var isRenumbering: Bool { renumbering != nil }

    /// Different secrets that were met.
    package var secrets: Int { table.count }
    /// Secrets that share the number 0, because there were too many.
    package var unnumbered: Int { table.refused }

    /// Returns the number of secrets that were replaced in bytes of no known form since the last call.
    package mutating func takeChangedBytes() -> Int {
        defer { changedBytes = 0 }
        return changedBytes
    }

    /// A secret that was not redacted as usual.
    package enum Trouble: Hashable, Sendable {
        /// There are more secrets than numbers, so this one has the number 0.
        case unnumbered
        /// A unit could not be searched for secrets.
        case withheld
    }

    /// Returns the kinds of trouble that occurred since the last call.
    package mutating func takeTroubles() -> [Trouble] {
        guard taken != (unnumbered, withheld) else { return [] }
        var troubles: [Trouble] = []
        if taken.unnumbered != unnumbered { troubles.append(.unnumbered) }
        if taken.withheld != withheld { troubles.append(.withheld) }
        taken = (unnumbered, withheld)
        return troubles
    }

    package mutating func takeFindings() -> [SecretFinding] {
        defer { findings = [] }
        return findings
    }

    /// A unit cannot be looked at.
    mutating func withhold() { withheld += 1 }

    // MARK: Single secrets

    /// What stands in the place of a secret; nil when it is none: empty, a pseudonym, or kept by a rule.
    mutating func pseudonym(_ secret: [UInt8], _ kind: SecretKind, _ name: String) -> [UInt8]? {
        guard !secret.isEmpty, Pseudonym.number(of: secret) == nil, !rules.keeps(value: secret) else { return nil }
        let number = table.number(of: secret, isSought: Redactor.isSought(secret, kind))
        note(kind, name, secret)
        return Pseudonym.make(number, for: secret)
    }

    /// The same for a JSON number; short ones count something.
    mutating func pseudonym(ofNumber text: [UInt8], _ kind: SecretKind, _ name: String) -> [UInt8]? {
        guard text.count >= 4, Pseudonym.number(of: text) == nil, !rules.keeps(value: text) else { return nil }
        let number = table.number(of: text, isSought: text.count >= 6 && kind != .inside)
        note(kind, name, text)
        return Array(Pseudonym.number(number).utf8)
    }

    /// The value of a header field, an item or a member that holds a secret. A scheme such as `Bearer` stays, and so does
    /// the public key before an Eventflit signature.
    package mutating func value(_ text: [UInt8], _ kind: SecretKind, _ name: String) -> [UInt8]? {
        if let space = text.firstIndex(of: 0x20), space > 0, space <= 24, Schemes.isScheme(text[..<space]) {
            let rest = Array(text[(space + 1)...].drop { $0 == 0x20 })
            guard let pseudonym = pseudonym(rest, kind, name) else { return nil }
            learnPassword(in: rest, scheme: text[..<space])
            return Array(text[...space]) + pseudonym
        }
        if let colon = text.firstIndex(of: UInt8(ascii: ":")), text.count - colon == 65, colon > 0,
            Pseudonym.isHex(Array(text[(colon + 1)...]))
        {
            guard let pseudonym = pseudonym(Array(text[(colon + 1)...]), kind, name) else { return nil }
            return Array(text[...colon]) + pseudonym
        }
        return pseudonym(text, kind, name)
    }

    /// The password of `Basic` is a secret of its own: a server may say it without the user's name.
    private mutating func learnPassword(in credentials: [UInt8], scheme: ArraySlice<UInt8>) {
        guard Schemes.isBasic(scheme), Pseudonym.number(of: credentials) == nil,
            let plain = Base64URL.decode(credentials), let colon = plain.firstIndex(of: UInt8(ascii: ":"))
        else { return }
        let password = Array(plain[(colon + 1)...])
        if !password.isEmpty { _ = table.number(of: password, isSought: Redactor.isSought(password, .named)) }
    }

    /// Whether its later occurrences are replaced wherever they stand. Short words would be found everywhere.
    private static func isSought(_ secret: [UInt8], _ kind: SecretKind) -> Bool {
        let hasDigit = secret.contains { (0x30...0x39).contains($0) }
        let hasLetter = secret.contains { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a }
        let isMixed = hasDigit && hasLetter
        switch kind {
        case .cookie: return secret.count >= 16 || secret.count >= 8 && isMixed
        // Lists and objects have common words, too.
        case .inside: return Keys.isMixed(secret[...])
        case .header, .named, .connectionInit, .rule, .token, .key, .privateKey, .bearer, .userInfo, .entropy:
            return secret.count >= 8 || secret.count >= SecretTable.shortestSought && isMixed
        }
    }

    private mutating func note(_ kind: SecretKind, _ name: String, _ secret: [UInt8]) {
        replaced += 1
        guard keepsFindings else { return }
        findings.append(SecretFinding(kind: kind, place: name, secret: secret))
    }

    /// Something that only looks like a secret, for `scan`.
    mutating func suspect(_ text: [UInt8], _ name: String) {
        if keepsFindings, table.knows(text) == nil {
            findings.append(SecretFinding(kind: .entropy, place: name, secret: text))
        }
    }

    var isLookingForSuspects: Bool { keepsFindings }

    // MARK: Known secrets

    func known(in text: [UInt8]) -> SecretTable.Sought { table.find(in: text) }

    package func begun(atEndOf text: ArraySlice<UInt8>) -> Int { table.begun(atEndOf: text) }

    /// States a secret that was met elsewhere.
    package mutating func learn(_ secret: [UInt8]) { _ = table.number(of: secret, isSought: true) }

    /// States another spelling of a secret that was met.
    mutating func learn(_ other: [UInt8], as secret: [UInt8]) {
        guard let number = table.knows(secret) else { return }
        table.add(other, number, isSought: Redactor.isSought(other, .named))
    }

    mutating func noteKnown(_ secret: [UInt8]) { note(.named, "met before", secret) }
}

/// What made a secret known.
package enum SecretKind: String, Hashable, Sendable {
    case header, cookie
    /// The name of an item or a member.
    case named
    /// It is in a list or an object under the name of a secret.
    case inside = "within a secret"
    case connectionInit = "connection_init"
    case rule
    /// A JSON Web Token.
    case token = "jwt"
    /// A key of a well-known service, told by how it begins.
    case key
    case privateKey = "private key"
    case bearer
    /// The password in a URL.
    case userInfo = "password in a URL"
    /// It is as random as a key, and nothing else is known of it. Never replaced, only told by `scan`.
    case entropy
}

/// A secret that was found.
package struct SecretFinding: Hashable, Sendable {
    package var kind: SecretKind
    /// The name under which it stands; empty for what is known by its looks.
    package var place: String
    private var secret: [UInt8]

    init(kind: SecretKind, place: String, secret: [UInt8]) {
        self.kind = kind
        self.place = place
        self.secret = secret
    }

    /// Enough to find it again and not enough to use it: `eyJh… (214 bytes)`. Short ones show nothing.
    package var masked: String {
        let shown = secret.count >= 20 ? String(decoding: secret.prefix(4), as: UTF8.self) : ""
        return "\(shown)… (\(secret.count) byte\(secret.count == 1 ? "" : "s"))"
    }
}

/// The words before credentials in an `Authorization` field.
enum Schemes {
    private static let all = [
        "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "hawk", "hmac", "key", "negotiate", "ntlm",
        "oauth", "sharedaccesssignature", "token",
    ]

    static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
        all.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    static func isBasic(_ word: ArraySlice<UInt8>) -> Bool {
        equalIgnoringCase(String(decoding: word, as: UTF8.self), "basic")
    }

    package static func isBearer(_ word: ArraySlice<UInt8>) -> Bool {
        equalIgnoringCase(String(decoding: word, as: UTF8.self), "bearer")
    }
}
