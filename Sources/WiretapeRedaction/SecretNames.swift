internal import WiretapeBytes

/// Names under which secrets stand: of header fields, items of queries and forms, and members of objects. Compared
/// without case, dashes, underscores and dots, so that `access_token`, `accessToken` and `Access-Token` are one.
///
/// A name is that of a secret if it is in ``everywhere``, or if it has one of the ``endings`` (`X-Door-Token`, `dbPassword`) and is not
/// in ``harmless``.
enum SecretNames {
    /// Longer names are none of these.
    package static let longest = 128

    /// Names in headers, queries, forms and objects that have none of the ``endings``. `sid` is not listed, because it is the id of an open
    /// connection in Engine.IO.
    private static let everywhere = [
        "accountkey", "aspsessionid", "assertion", "auth", "bearer", "clientassertion", "codeverifier", "cookie",
        "jsessionid", "jwt", "ocpapimsubscriptionkey", "pass", "passwordagain", "passwordconfirm",
        "passwordconfirmation", "passwordrepeat", "phpsessid", "pwd", "samlresponse", "sessionid", "setcookie",
        "sig", "subscriptionkey", "xatmosphereauth", "xatmosphereauthrefresh", "xauthkey", "xfunctionskey",
        "xhubsignature256", "xsessionid",
    ]

    private static let endings = [
        "accesskey", "apikey", "authorization", "credential", "credentials", "encryptionkey", "passcode",
        "passphrase", "passwd", "password", "passwords", "privatekey", "secret", "secretkey", "secrets", "signature",
        "signingkey", "token",
    ]

    /// Names with such an ending that are not those of secrets: page tokens, and ids that are valid only while a connection or a stream
    /// is open.
    private static let harmless = [
        "connectiontoken", "continuationtoken", "nextcontinuationtoken", "nextpagetoken", "nexttoken", "pagetoken",
        "previouspagetoken", "prevpagetoken", "progresstoken", "synctoken", "xgraphqleventstreamtoken",
        "xsignalrconnectiontoken",
    ]

    private static let hashes = Set(everywhere.map { hash(Array($0.utf8)[...]) })
    /// Hashes of everything that a name of the list may begin with.
    private static let beginnings = Set(
        everywhere.flatMap { name in (1...name.utf8.count).map { hash(Array(name.utf8.prefix($0))[...]) } })
    private static let harmlessHashes = Set(harmless.map { hash(Array($0.utf8)[...]) })
    /// The endings by their last letter, each from its last letter to its first.
    private static let endingsByLast: [[[UInt8]]] = {
        var table: [[[UInt8]]] = Array(repeating: [], count: 256)
        for ending in endings { table[Int(ending.utf8.last ?? 0)].append(ending.utf8.reversed()) }
        return table
    }()

    /// - Parameter hash: ``hash(_:)`` of the name.
    static func contains(_ name: ArraySlice<UInt8>, hash: UInt64) -> Bool {
        guard name.count <= longest else { return false }
        return hashes.contains(hash) || endsAsSecret(name) && !harmlessHashes.contains(hash)
    }

    /// Whether more bytes can make the name of a secret: this is the beginning of a listed name, or it ends with the beginning of an
    /// ending.
    static func mayBegin(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= longest else { return false }
        if name.isEmpty || beginnings.contains(hash(name)) { return true }
        let folded = name.filter { !isSeparator($0) }.map(fold)
        return endings.contains { ending in
            (1...ending.utf8.count).contains { folded.suffix($0).elementsEqual(ending.utf8.prefix($0)) }
        }
    }

    private static func endsAsSecret(_ name: ArraySlice<UInt8>) -> Bool {
        guard let last = name.last else { return false }
        for ending in endingsByLast[Int(fold(last))] {
            var at = name.endIndex
            var found = 0
            while found < ending.count, at > name.startIndex {
                at -= 1
                if isSeparator(name[at]) { continue }
                guard fold(name[at]) == ending[found] else { break }
                found += 1
            }
            if found == ending.count { return true }
        }
        return false
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    /// In lower case.
    private static func fold(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

    /// The same for names that are one to this table, and to user's rules.
    package static func hash(_ name: ArraySlice<UInt8>) -> UInt64 {
        var hash = StableHash()
        for byte in name {
            if !isSeparator(byte) { hash.combine(fold(byte)) }
        }
        return hash.value
    }
}
