/// Where systems keep the certificates that they trust.
package enum SystemTrust {
    /// One file with all of them: of Debian and Alpine, of Fedora, of SUSE, of the BSDs and macOS.
    package static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The file to read beside OpenSSL's own places. A library that is linked into the program looks where the system of its
    /// builder keeps certificates, and this one may be another.
    /// - Parameter builtIn: the file and the folder that OpenSSL looks at.
    /// - Returns: nil when one of them is there, or a variable names others, and when the system has no such file.
    package static func besides(
        builtIn: [String], environment: (String) -> String?, exists: (String) -> Bool
    ) -> String? {
        if builtIn.contains(where: exists) { return nil }
        if ["SSL_CERT_FILE", "SSL_CERT_DIR"].contains(where: { !(environment($0) ?? "").isEmpty }) { return nil }
        return bundles.first(where: exists)
    }
}
