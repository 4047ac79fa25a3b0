/// Whose certificates clients of a listener may show.
package struct TLSClients: Hashable, Sendable {
    /// A file in PEM with those who issue them.
    package var authorities: String
    /// A client without one is refused.
    package var isRequired: Bool

    package init(authorities: String, isRequired: Bool) {
        self.authorities = authorities
        self.isRequired = isRequired
    }
}

/// A certificate in PEM, behind it those that issued it, and its key, which may be the same file.
package struct TLSFiles: Hashable, Sendable {
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
