internal import CWiretapeOpenSSL
internal import WiretapeBytes

// Lifetime: certificate and key are freed in `deinit`; OpenSSL counts the references of those who use them. Extensions
// and BIOs are freed in the function that makes them.

/// A certificate with its private key (P-256), made here. For our own listeners and for tests.
@safe package final class TLSIdentity: Sendable {
    // OpenSSL counts references with atomics, and nothing changes after the initialiser.
    nonisolated(unsafe) let certificate: OpaquePointer
    nonisolated(unsafe) let key: OpaquePointer
    package let names: [String]

    /// A self-signed authority that can issue others.
    /// - Parameter name: its common name, as people see it in a list of certificates.
    package static func authority(_ name: String) throws(TLSError) -> TLSIdentity {
        try TLSIdentity(names: [name], issuer: nil, isAuthority: true, from: -3600, to: 10 * 365 * 86400)
    }

    /// A server's certificate.
    /// - Parameters:
    ///   - names: DNS names and IP addresses; the first is also the common name.
    ///   - issuer: nil for a self-signed one.
    ///   - from: when it begins to be valid, in seconds from now; `to` likewise.
    package convenience init(
        names: [String], issuer: TLSIdentity?, from: Int = -3600, to: Int = 365 * 86400
    ) throws(TLSError) {
        try self.init(names: names, issuer: issuer, isAuthority: false, from: from, to: to)
    }

    /// A server's certificate as they were long ago: its name is the common name, and it lists none.
    package convenience init(commonName: String, issuer: TLSIdentity?) throws(TLSError) {
        try self.init(
            names: [commonName], issuer: issuer, isAuthority: false, listsNames: false, from: -3600, to: 86400)
    }

    private init(
        names: [String], issuer: TLSIdentity?, isAuthority: Bool, listsNames: Bool = true, from: Int, to: Int
    ) throws(TLSError) {
        ERR_clear_error()
        guard let key = unsafe wiretape_EVP_EC_gen("P-256"), let certificate = unsafe X509_new() else {
            throw .queued(.setup, "cannot make a certificate")
        }
        unsafe self.key = unsafe key
        unsafe self.certificate = unsafe certificate
        self.names = names
        // Public numbers need to differ, no more; 63 bits are positive and short enough (RFC 5280 4.1.2.2).
        var generator = SystemRandomNumberGenerator()
        let serial = Int(truncatingIfNeeded: generator.next() as UInt64 >> 1) | 1
        _ = unsafe X509_set_version(certificate, 2)
        _ = unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial)
        _ = unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), from)
        _ = unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), to)
        _ = unsafe X509_set_pubkey(certificate, key)
        let subject = unsafe X509_get_subject_name(certificate)
        let common = String((names.first ?? "localhost").prefix(64))
        _ = unsafe X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, common, -1, -1, 0)
        let issuerName = unsafe issuer.map { unsafe X509_get_subject_name($0.certificate) } ?? subject
        _ = unsafe X509_set_issuer_name(certificate, issuerName)
        let signer = unsafe issuer?.certificate ?? certificate
        add(NID_subject_key_identifier, "hash", signer)
        if isAuthority {
            add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", signer)
            add(NID_key_usage, "critical,keyCertSign,cRLSign", signer)
        } else {
            add(NID_basic_constraints, "critical,CA:FALSE", signer)
            add(NID_key_usage, "critical,digitalSignature", signer)
            add(NID_ext_key_usage, "serverAuth", signer)
            let list = names.map { HostName.isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }
            if listsNames { add(NID_subject_alt_name, list.joined(separator: ","), signer) }
        }
        // Which of the issuer's keys has signed it; one that signs itself has only one.
        if issuer != nil { add(NID_authority_key_identifier, "keyid:always", signer) }
        guard unsafe X509_sign(certificate, issuer?.key ?? key, EVP_sha256()) > 0 else {
            throw .queued(.setup, "cannot sign a certificate")
        }
    }

    /// - Parameters: owned from now on.
    @unsafe init(owning certificate: OpaquePointer, _ key: OpaquePointer) {
        unsafe self.certificate = unsafe certificate
        unsafe self.key = unsafe key
        var name = [CChar](repeating: 0, count: 128)
        let subject = unsafe X509_get_subject_name(certificate)
        let count = unsafe X509_NAME_get_text_by_NID(subject, NID_commonName, &name, Int32(name.count))
        names = [String(decoding: name.prefix(max(0, Int(count))).map(UInt8.init(bitPattern:)), as: UTF8.self)]
    }

    deinit {
        unsafe X509_free(certificate)
        unsafe EVP_PKEY_free(key)
    }

    /// - Parameter signer: whose key an extension may speak of.
    @safe private func add(_ kind: Int32, _ value: String, _ signer: OpaquePointer) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, signer, certificate, nil, nil, 0)
        guard let field = unsafe X509V3_EXT_conf_nid(nil, &context, kind, value) else { return }
        _ = unsafe X509_add_ext(certificate, field, -1)
        unsafe X509_EXTENSION_free(field)
    }
}
