package import WiretapeBytes
internal import WiretapeWire

/// Who may use the control API: hosts and pages as every listener of this house judges them, and who has the token, if there is
/// one. An API on an address beyond loopback has one.
package struct ControlAccess: Sendable {
    private let hosts: AccessPolicy
    /// Of the token; nil: none is asked for.
    private let token: [UInt8]?

    /// - Parameters:
    ///   - hosts: names beyond loopback, as `--allow-host` has them.
    ///   - token: at least 8 characters, all of them visible ASCII.
    package init(hosts: [String], token: String?) throws(OptionError) {
        self.hosts = try AccessPolicy(hosts: hosts, origins: [])
        if let token { try Self.check(token: token) }
        self.token = token.map { SHA256.hash(Array($0.utf8).span) }
    }

    /// - Throws: for people, when it could be no token.
    package static func check(token: String) throws(OptionError) {
        guard token.utf8.count >= 8, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw OptionError("a token has at least 8 characters, letters, digits and signs without blanks")
        }
    }

    /// Why the request is not let in; nil when it is.
    func refusal(_ head: RequestHead, isOpen: Bool) -> ControlError? {
        if let refusal = hosts.refusal(head, judgesOrigin: true) {
            switch refusal {
            case .host: return ControlError(403, refusal.reason)
            case .proxied: return ControlError(403, "this is the control API, and no proxy")
            case .origin(let origin):
                return ControlError(
                    403, "pages of '\(Summary.line(origin))' are not let in: the control API is for pages of loopback")
            case .unknownSite:
                return ControlError(
                    403, "pages of other sites are not let in: the control API is for pages of loopback")
            }
        }
        guard let token, !isOpen else { return nil }
        guard let given = head.headers.first("Authorization") else {
            return ControlError(401, "this control API wants its token: 'Authorization: Bearer TOKEN'")
        }
        let words = given.split(separator: " ")
        guard words.count == 2, equalIgnoringCase(words[0], "bearer") else {
            return ControlError(401, "this control API wants its token as 'Authorization: Bearer TOKEN'")
        }
        // Digests are of one length whatever was sent, and each byte of them is looked at.
        let hash = SHA256.hash(Array(words[1].utf8).span)
        let difference = zip(hash, token).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 ? nil : ControlError(403, "this is not the token of this control API")
    }

    var hasToken: Bool { token != nil }

    /// Whether its host and its page are.
    func letsIn(_ head: RequestHead) -> Bool { hosts.refusal(head, judgesOrigin: true) == nil }

    /// The headers with which a page of loopback may read an answer; a request that was let in has no other page.
    static func cors(_ head: RequestHead) -> [HeaderField] {
        guard let origin = head.headers.first("Origin") else { return [] }
        return [
            HeaderField("Access-Control-Allow-Origin", origin), HeaderField("Vary", "Origin"),
            HeaderField("Access-Control-Expose-Headers", "Allow"),
        ]
    }
}
