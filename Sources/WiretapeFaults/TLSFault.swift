/// What goes wrong in a TLS handshake.
package enum TLSFault: Hashable, Sendable {
    /// The client's hello is answered with it, and the connection ends.
    case alert(TLSAlert)
    /// The client is shown a certificate that it must refuse.
    case certificate(CertificateFlaw)
}

/// Why a client must refuse a certificate.
package enum CertificateFlaw: String, Hashable, Sendable, CaseIterable {
    case expired
    case notYetValid = "not-yet-valid"
    /// It is for another host.
    case wrongName = "wrong-name"
    /// Nobody whom the client trusts has issued it · nobody at all has.
    case unknownCA = "unknown-ca"
    case selfSigned = "self-signed"

    /// Whether the client has to trust who issued it, so that this is what it objects to.
    package var needsTrust: Bool {
        switch self {
        case .expired, .notYetValid, .wrongName: true
        case .unknownCA, .selfSigned: false
        }
    }
}

/// The alerts with which servers refuse a handshake (RFC 8446 6.2), as its registry calls them, with hyphens.
package enum TLSAlert: String, Hashable, Sendable, CaseIterable {
    case handshakeFailure = "handshake-failure"
    case illegalParameter = "illegal-parameter"
    case accessDenied = "access-denied"
    case decodeError = "decode-error"
    case protocolVersion = "protocol-version"
    case insufficientSecurity = "insufficient-security"
    case internalError = "internal-error"
    case unrecognizedName = "unrecognized-name"
    case noApplicationProtocol = "no-application-protocol"

    private var number: UInt8 {
        switch self {
        case .handshakeFailure: 40
        case .illegalParameter: 47
        case .accessDenied: 49
        case .decodeError: 50
        case .protocolVersion: 70
        case .insufficientSecurity: 71
        case .internalError: 80
        case .unrecognizedName: 112
        case .noApplicationProtocol: 120
        }
    }

    /// The record that says it, fatal, before anything is encrypted.
    package var record: [UInt8] { [21, 3, 3, 0, 2, 2, number] }
}
