internal import CWiretapeOpenSSL

// Lifetime: what OpenSSL allocates is freed in the same function.

/// What a certificate is checked against.
enum HostName {
    /// Whether `host` is an IPv4 or IPv6 address. Those are compared with the addresses of a certificate and are not sent
    /// as SNI (RFC 6066 3).
    static func isAddress(_ host: String) -> Bool {
        guard let octets = unsafe a2i_IPADDRESS(host) else { return false }
        unsafe ASN1_OCTET_STRING_free(octets)
        return true
    }

    /// Without what a certificate does not know: brackets, the zone of an address, the dot of the root.
    static func plain(_ host: String) -> String {
        var name = host[...]
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        if name.contains(":"), let zone = name.firstIndex(of: "%") { name = name[..<zone] }
        if name.hasSuffix(".") { name = name.dropLast() }
        return String(name)
    }
}
