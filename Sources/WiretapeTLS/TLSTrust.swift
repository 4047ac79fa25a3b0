/// Whom a client trusts.
package enum TLSTrust: Hashable, Sendable {
    /// The certificates that the system keeps.
    case system
    /// Those and the ones of a PEM file (`--upstream-ca FILE`). An issuer's certificate, an intermediate one or the
    /// server's own will do.
    case systemAnd(file: String)
    /// Anybody (`--insecure-upstream`).
    case everyone
}
