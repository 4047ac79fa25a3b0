internal import WiretapeBytes

/// Names under which secrets stand: of header fields, items of queries and forms, and members of objects. Compared
/// without case, dashes, underscores and dots, so that `access_token`, `accessToken` and `Access-Token` are one.
enum SecretNames {
    /// Longer names are none of these.
    package static let longest = 40

    /// In headers, queries, forms and objects.
    private static let everywhere = [
        "accesskey", "accesstoken", "accountkey", "apikey", "apisecret", "apitoken", "appsecret", "auth",
        "authorization",
        "authsignature", "authtoken", "awssecretaccesskey", "bearer", "bearertoken", "clientsecret", "cookie",
        "credential", "credentials", "csrftoken", "currentpassword", "idtoken", "jwt", "mastertoken", "newpassword",
        "ocpapimsubscriptionkey", "oldpassword", "passphrase", "passwd", "password", "privatekey", "privatetoken",
        "proxyauthorization", "pwd", "refreshtoken", "secret", "secretaccesskey", "secretkey", "securitytoken",
        "sessiontoken", "setcookie", "sharedaccesskey", "sharedaccesssignature", "sharedsecret", "sig",
        "subscriptionkey",
        "token", "userpassword", "usertoken", "xaccesstoken", "xamzcredential", "xamzsecuritytoken", "xamzsignature",
        "xapikey", "xauthkey", "xauthtoken", "xclientsecret", "xcsrftoken", "xeventflitsignature", "xfunctionskey",
        "xgoogapikey", "xhubsignature", "xhubsignature256", "xidtoken", "xpushersignature", "xrefreshtoken",
        "xsessiontoken", "xsrftoken", "xvaulttoken", "xxsrftoken",
    ]

    private static let hashes = Set(everywhere.map { hash(Array($0.utf8)[...]) })
    /// Hashes of everything that such a name may begin with.
    private static let beginnings = Set(
        everywhere.flatMap { name in (1...name.utf8.count).map { hash(Array(name.utf8.prefix($0))[...]) } })

    /// Whether a name with this hash names a secret.
    /// - Parameter hash: ``hash(_:)`` of a name of at most ``longest`` bytes.
    static func contains(hash: UInt64) -> Bool { hashes.contains(hash) }

    /// Whether more bytes may make one of them of it.
    static func mayBegin(_ name: ArraySlice<UInt8>) -> Bool {
        name.count <= longest && (name.isEmpty || beginnings.contains(hash(name)))
    }

    /// The same for names that are one to this table, and to user's rules.
    package static func hash(_ name: ArraySlice<UInt8>) -> UInt64 {
        var hash = StableHash()
        for byte in name {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): continue
            case 0x41...0x5a: hash.combine(byte | 0x20)
            default: hash.combine(byte)
            }
        }
        return hash.value
    }
}
