internal import CWiretapeOpenSSL
internal import WiretapeBytes
internal import WiretapeSystem

// Lifetime: the context is freed in `deinit`. OpenSSL counts references: a connection keeps the context, and its
// machine keeps this object, which the callbacks find through a pointer that does not retain it.

/// What many TLS connections share: whom to trust, or who we are. May be used by all threads.
@safe package final class TLSContext: Sendable {
    // SSL_CTX is safe to share once it is set up, which the initialisers do.
    nonisolated(unsafe) let raw: OpaquePointer
    /// Issues what a server shows, nil for a client and for a server with one certificate.
    private let issuer: Issuer?
    /// Certificates made on demand, by name.
    private let issued = Gate<[String: TLSIdentity]>([:])
    private static let mostIssued = 1024
    private let keyLog: TLSKeyLog?

    /// Who issues certificates on demand.
    private struct Issuer: Sendable {
        /// Nil: each signs itself.
        let authority: TLSIdentity?
        let fallbackNames: [String]
        let leaves: Leaves

        func issue(for name: String?) throws(TLSError) -> TLSIdentity {
            let names = (leaves.name ?? name).map { [$0] } ?? fallbackNames
            return try TLSIdentity(names: names, issuer: authority, from: leaves.from, to: leaves.to)
        }
    }

    /// What the certificates say that are issued on demand.
    package struct Leaves: Sendable {
        /// For whom they are; nil: for the name that the client asks for.
        package var name: String?
        /// When they begin and end to be valid, in seconds from when they are issued.
        package var from = -3600
        package var to = 365 * 86400

        package init(name: String? = nil) { self.name = name }

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// For connections that we open. TLS 1.2 at least, ALPN `http/1.1`.
    /// - Parameter identity: what servers are shown that ask for a certificate; nil: none.
    /// - Throws: when the file of `trust` cannot be read or holds no certificate, or `identity` cannot be used.
    package init(client trust: TLSTrust, identity: TLSFiles? = nil, keyLog: TLSKeyLog? = nil) throws(TLSError) {
        self.keyLog = keyLog
        issuer = nil
        unsafe raw = try Self.make(TLS_client_method())
        switch trust {
        case .everyone: unsafe SSL_CTX_set_verify(raw, SSL_VERIFY_NONE, nil)
        case .system, .systemAnd:
            unsafe SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
            _ = unsafe SSL_CTX_set_default_verify_paths(raw)
            if let file = unsafe SystemTrust.besides(
                builtIn: [X509_get_default_cert_file(), X509_get_default_cert_dir()].map { unsafe String(cString: $0) },
                environment: ThisProcess.environment, exists: File.exists)
            {
                _ = unsafe SSL_CTX_load_verify_file(raw, file)
            }
        }
        if case .systemAnd(let file) = trust { try addCertificates(file) }
        ERR_clear_error()
        if let identity { try use(identity) }
        logKeys()
    }

    /// For connections that we accept: a certificate for each name that clients ask for is made on demand.
    /// - Parameters:
    ///   - authority: nil: each certificate signs itself.
    ///   - fallbackNames: what the certificate says for clients that name nobody (SNI), such as those that connect to an IP
    ///     address.
    ///   - clients: whose certificates clients may show; nil: they are asked for none.
    package init(
        serverIssuing authority: TLSIdentity?, leaves: Leaves = Leaves(),
        fallbackNames: [String] = ["localhost", "127.0.0.1", "::1"], clients: TLSClients? = nil,
        keyLog: TLSKeyLog? = nil
    ) throws(TLSError) {
        self.keyLog = keyLog
        issuer = Issuer(authority: authority, fallbackNames: fallbackNames, leaves: leaves)
        unsafe raw = try Self.make(TLS_server_method())
        unsafe SSL_CTX_set_cert_cb(raw, chooseCertificate, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_alpn_select_cb(raw, chooseProtocol, nil)
        if let clients { try ask(clients) }
        logKeys()
    }

    /// For connections that we accept, with the certificate of a file in PEM, behind it those that issued it, and the key of
    /// another one.
    /// - Throws: when a file cannot be used, or the two do not belong together.
    package init(
        certificate: String, key: String, clients: TLSClients? = nil, keyLog: TLSKeyLog? = nil
    ) throws(TLSError) {
        self.keyLog = keyLog
        issuer = nil
        unsafe raw = try Self.make(TLS_server_method())
        try use(TLSFiles(certificate: certificate, key: key))
        unsafe SSL_CTX_set_alpn_select_cb(raw, chooseProtocol, nil)
        if let clients { try ask(clients) }
        logKeys()
    }

    /// For connections that we accept, with one certificate.
    package init(server identity: TLSIdentity) throws(TLSError) {
        keyLog = nil
        issuer = nil
        unsafe raw = try Self.make(TLS_server_method())
        guard unsafe SSL_CTX_use_certificate(raw, identity.certificate) == 1,
            unsafe SSL_CTX_use_PrivateKey(raw, identity.key) == 1
        else { throw .queued(.setup, "cannot use the certificate") }
        unsafe SSL_CTX_set_alpn_select_cb(raw, chooseProtocol, nil)
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// ALPN's list of what we speak: a length byte, then the name.
    static let protocols: [UInt8] = [8] + Array("http/1.1".utf8)

    private static func make(_ method: OpaquePointer?) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let raw = unsafe SSL_CTX_new(method) else { throw .queued(.setup, "cannot set up TLS") }
        _ = unsafe wiretape_SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION)
        _ = unsafe wiretape_SSL_CTX_set_options(raw)
        // An idle connection gives its record buffers back: 34 KiB each.
        _ = unsafe wiretape_SSL_CTX_set_mode(raw, Int(SSL_MODE_RELEASE_BUFFERS))
        _ = unsafe wiretape_SSL_CTX_use_no_session_cache(raw)
        let list = protocols
        _ = unsafe SSL_CTX_set_alpn_protos(raw, list, UInt32(list.count))
        return unsafe raw
    }

    /// What the other side is shown.
    private func use(_ files: TLSFiles) throws(TLSError) {
        // Without a function that asks for a password OpenSSL would ask the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(raw) { _, _, _, _ in 0 }
        guard unsafe SSL_CTX_use_certificate_chain_file(raw, files.certificate) == 1 else {
            throw .queued(.setup, "\(files.certificate): cannot be used as a certificate (PEM is expected)")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(raw, files.key, SSL_FILETYPE_PEM) == 1 else {
            throw .queued(.setup, "\(files.key): cannot be used as its key (PEM without a password is expected)")
        }
        guard unsafe SSL_CTX_check_private_key(raw) == 1 else {
            throw .queued(.setup, "\(files.certificate) and \(files.key) do not belong together")
        }
    }

    /// Clients are asked for certificates.
    private func ask(_ clients: TLSClients) throws(TLSError) {
        try addCertificates(clients.authorities)
        // Their names help a client that has several to choose. The list is the context's from then on.
        unsafe SSL_CTX_set_client_CA_list(raw, SSL_load_client_CA_file(clients.authorities))
        let mode = SSL_VERIFY_PEER | (clients.isRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
        unsafe SSL_CTX_set_verify(raw, mode, nil)
        // Sessions are resumed by those only who were asked for a certificate here.
        let name = Array("wiretape".utf8)
        _ = unsafe SSL_CTX_set_session_id_context(raw, name, UInt32(name.count))
        ERR_clear_error()
    }

    private func addCertificates(_ path: String) throws(TLSError) {
        var bytes: [UInt8] = []
        do {
            let file = try File.reading(path)
            while bytes.count < 16 << 20, try file.read(at: UInt64(bytes.count), limit: 65536, into: &bytes) > 0 {}
        } catch {
            throw TLSError(.setup, "\(path): \(error.reason)")
        }
        let store = unsafe SSL_CTX_get_cert_store(raw)
        let count = unsafe bytes.withUnsafeBytes { unsafe Self.add($0, to: store) }
        ERR_clear_error()
        guard let count else { throw .queued(.setup, "\(path): cannot be read") }
        guard count > 0 else { throw TLSError(.setup, "\(path): holds no certificate (PEM is expected)") }
        _ = unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    }

    /// The certificates of a file in PEM.
    /// - Parameters:
    ///   - bytes: lent for the call. The BIO reads them in place, and is gone before they are.
    ///   - store: of `raw`, which keeps it alive; it counts its own references to the certificates.
    /// - Returns: how many were added; nil when there is no memory.
    @unsafe private static func add(_ bytes: UnsafeRawBufferPointer, to store: OpaquePointer?) -> Int? {
        guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
        defer { unsafe BIO_free(bio) }
        var count = 0
        while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
            if unsafe X509_STORE_add_cert(store, certificate) == 1 { count += 1 }
            unsafe X509_free(certificate)
        }
        return count
    }

    private func logKeys() {
        guard keyLog != nil else { return }
        _ = unsafe SSL_CTX_set_ex_data(raw, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_keylog_callback(raw, tellKey)
    }

    fileprivate func tell(key line: String) { keyLog?.write(line) }

    /// The certificate for a client that asks for `name`.
    func certificate(for name: String?) -> TLSIdentity? {
        guard let issuer else { return nil }
        let key = name ?? ""
        return issued.withLock { issued in
            if let made = issued[key] { return made }
            guard let made = try? issuer.issue(for: name) else { return nil }
            // A client that asks for ever new names must not fill the memory.
            if issued.count >= Self.mostIssued { issued = [:] }
            issued[key] = made
            return made
        }
    }
}

private func chooseCertificate(_ ssl: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let owner = unsafe Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
    let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { unsafe String(cString: $0) }
    // What the client believes to reach is known without its saying so.
    if name == nil, unsafe SSL_get_certificate(ssl) != nil { return 1 }
    guard let identity = owner.certificate(for: name) else { return 0 }
    let isUsed =
        unsafe SSL_use_certificate(ssl, identity.certificate) == 1 && SSL_use_PrivateKey(ssl, identity.key) == 1
    return isUsed ? 1 : 0
}

private func tellKey(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let line = unsafe line, let owner = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0) else { return }
    unsafe Unmanaged<TLSContext>.fromOpaque(owner).takeUnretainedValue().tell(key: String(cString: line))
}

/// `http/1.1` when the client offers it. A client that offers only others (`h2`) is refused, as it would have to be if it
/// were told nothing: it would go on in a protocol that nobody here speaks (RFC 7301 3.2).
private func chooseProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ count: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let offered = unsafe offered else { return SSL_TLSEXT_ERR_NOACK }
    let ours = TLSContext.protocols
    var at = 0
    let end = Int(count)
    while at < end {
        let size = Int(unsafe offered[at])
        guard at + 1 + size <= end else { break }
        if size == ours.count - 1, (0..<size).allSatisfy({ unsafe offered[at + 1 + $0] == ours[1 + $0] }) {
            unsafe chosen?.pointee = offered + at + 1
            unsafe length?.pointee = UInt8(size)
            return SSL_TLSEXT_ERR_OK
        }
        at += 1 + size
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

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
