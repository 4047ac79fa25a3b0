internal import CWiretapeOpenSSL

// Lifetime: OpenSSL's error texts are constants; they are copied.

/// A TLS connection that could not be made or went wrong.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong.
    package enum Code: Hashable, Sendable {
        /// A certificate file, or OpenSSL itself, cannot be used.
        case setup
        /// The other side's certificate was refused.
        case certificate
        /// The other side broke the protocol, sent an alert, or does not speak TLS.
        case violation
        /// It was meant to go wrong.
        case wanted
    }
    package var code: Code
    /// In people's words: `certificate verify failed: self-signed certificate; …`.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    /// The oldest error of this thread's queue, the cause; the queue is emptied.
    static func queued(_ code: Code, _ what: String) -> TLSError {
        let number = ERR_get_error()
        ERR_clear_error()
        guard number != 0, let reason = unsafe ERR_reason_error_string(number) else { return TLSError(code, what) }
        let text = unsafe String(cString: reason)
        switch wiretape_ERR_GET_REASON(number) {
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_UNKNOWN_PROTOCOL, SSL_R_PACKET_LENGTH_TOO_LONG:
            return TLSError(code, "\(what): the other side does not speak TLS (\(text))")
        case SSL_R_NO_APPLICATION_PROTOCOL:
            return TLSError(code, "\(what): the other side insists on a protocol other than http/1.1, such as h2")
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return TLSError(.certificate, "\(what): the client shows no certificate, and one is required")
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return TLSError(code, "\(what): the other side wants a certificate (\(text))")
        case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
            return TLSError(code, "\(what): the other side does not speak http/1.1 (\(text))")
        default: return TLSError(code, "\(what): \(text)")
        }
    }
}
