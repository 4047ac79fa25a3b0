internal import CWiretapeOpenSSL
internal import WiretapeBytes

// Lifetime: the connection is freed in `deinit` and owns both BIOs; bytes are lent for one call, and names are copied.

/// One end of a TLS connection, without a socket: bytes of the peer come in, bytes for the peer go out, both through memory.
///
/// States: shaking hands, open, failed (terminal). Each direction of an open one ends by itself, with a close_notify.
/// Bad input: what the peer sends against the protocol throws, and the alert that says so is in `reply` all the same;
/// bytes after its close_notify are dropped (legal); calls after a failure throw it again.
@safe package struct TLSMachine: ~Copyable {
    let ssl: OpaquePointer
    /// Owned by `ssl`.
    private let input: OpaquePointer, output: OpaquePointer
    private let context: TLSContext
    private let host: String?
    private var failure: TLSError?
    /// The handshake is done.
    package private(set) var isOpen = false
    /// The peer's close_notify has come.
    package private(set) var hasReceivedEnd = false
    package private(set) var hasSentEnd = false

    /// What a piece of input has brought about.
    package enum Progress: Equatable {
        /// Nothing to tell but the plain bytes.
        case none
        /// The handshake is done with this input. Plain bytes may have come too.
        case opened
        /// The peer sends nothing more: its close_notify has come, after the plain bytes.
        case ended
        /// Both with one input.
        case openedAndEnded
    }

    /// The client's side.
    /// - Parameter host: name or address of the server: sent as SNI when it is a name, and what its certificate must say.
    package init(_ context: TLSContext, connectingTo host: String) throws(TLSError) {
        try self.init(context, host: HostName.plain(host))
        unsafe SSL_set_connect_state(ssl)
    }

    /// The server's side.
    /// - Parameter name: what a context that issues certificates says to a client that names nobody; nil: its own names.
    package init(accepting context: TLSContext, as name: String? = nil) throws(TLSError) {
        try self.init(context, host: nil)
        unsafe SSL_set_accept_state(ssl)
        if let identity = name.flatMap(context.certificate) {
            // Both count their references.
            _ = unsafe SSL_use_certificate(ssl, identity.certificate)
            _ = unsafe SSL_use_PrivateKey(ssl, identity.key)
        }
    }

    private init(_ context: TLSContext, host: String?) throws(TLSError) {
        ERR_clear_error()
        guard let ssl = unsafe SSL_new(context.raw), let input = unsafe BIO_new(BIO_s_mem()),
            let output = unsafe BIO_new(BIO_s_mem())
        else { throw .queued(.setup, "cannot set up TLS") }
        unsafe SSL_set_bio(ssl, input, output)
        if let host, unsafe !Self.expect(host, ssl) {
            // It owns both BIOs.
            unsafe SSL_free(ssl)
            throw .queued(.setup, "'\(host)' is no name that a certificate could be checked against")
        }
        unsafe self.ssl = unsafe ssl
        unsafe self.input = unsafe input
        unsafe self.output = unsafe output
        self.context = context
        self.host = host
    }

    deinit { unsafe SSL_free(ssl) }

    /// Asks for a certificate of `name`. OpenSSL copies it.
    /// - Returns: whether there will be a check of it.
    private static func expect(_ name: String, _ ssl: OpaquePointer) -> Bool {
        // Only the names and addresses that it lists count (RFC 9110 4.3.4), never its common name.
        unsafe SSL_set_hostflags(
            ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        // OpenSSL takes an empty name for none at all, and a name ends at its first NUL: neither would be checked.
        guard !name.isEmpty, !name.utf8.contains(0) else { return false }
        if HostName.isAddress(name) { return unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 }
        return unsafe wiretape_SSL_set_tlsext_host_name(ssl, name) == 1 && SSL_set1_host(ssl, name) == 1
    }

    /// The first bytes: a client's hello, nothing for a server.
    package mutating func start(reply: inout [UInt8]) throws(TLSError) {
        guard !isOpen else { return }
        try shakeHands(&reply)
    }

    /// Bytes of the peer, in any split.
    /// - Parameters:
    ///   - plain: what they say is appended. With one input of n bytes at most n.
    ///   - reply: what must be sent at once is appended, also when this throws.
    package mutating func received(
        _ cipher: Span<UInt8>, plain: inout [UInt8], reply: inout [UInt8]
    ) throws(TLSError) -> Progress {
        if let failure { throw failure }
        guard !hasReceivedEnd else { return .none }
        var at = 0
        var wasOpen = isOpen
        var opened = false
        // In pieces: OpenSSL's own buffer never grows beyond one of them and a record.
        repeat {
            let next = min(cipher.count, at + 16384)
            feed(cipher.extracting(at..<next))
            at = next
            if !isOpen { try shakeHands(&reply) }
            if isOpen {
                if !wasOpen { opened = true }
                wasOpen = true
                try read(into: &plain, reply: &reply)
            }
        } while at < cipher.count && !hasReceivedEnd
        return switch (opened, hasReceivedEnd) {
        case (false, false): .none
        case (true, false): .opened
        case (false, true): .ended
        case (true, true): .openedAndEnded
        }
    }

    /// Encrypts `plain`. Only on an open machine that has not sent its end.
    package mutating func send(_ plain: Span<UInt8>, into cipher: inout [UInt8]) throws(TLSError) {
        if let failure { throw failure }
        guard isOpen, !hasSentEnd else { throw TLSError(.violation, "TLS: nothing can be sent now") }
        var at = 0
        while at < plain.count {
            let piece = plain.extracting(at..<min(plain.count, at + 16384))
            ERR_clear_error()
            var taken = 0
            let rc = unsafe piece.withUnsafeBytes { bytes in
                unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &taken)
            }
            unsafe MemoryBIO.drain(output, into: &cipher)
            guard rc == 1, taken > 0 else { throw fail(rc) }
            at += taken
        }
    }

    /// Our close_notify. The peer may go on sending.
    package mutating func sendEnd(into cipher: inout [UInt8]) {
        guard isOpen, !hasSentEnd, failure == nil else { return }
        hasSentEnd = true
        ERR_clear_error()
        _ = unsafe SSL_shutdown(ssl)
        unsafe MemoryBIO.drain(output, into: &cipher)
        ERR_clear_error()
    }

    /// `TLSv1.3`.
    package var version: String { unsafe String(cString: SSL_get_version(ssl)) }

    /// The protocol agreed on by ALPN, or nil.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        guard let start = unsafe name, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// The name that the client asked for (SNI), or nil.
    package var serverName: String? {
        unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { unsafe String(cString: $0) }
    }

    // MARK: OpenSSL

    private func feed(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        unsafe bytes.withUnsafeBytes { _ = unsafe BIO_write(input, $0.baseAddress, Int32($0.count)) }
    }

    private mutating func shakeHands(_ reply: inout [UInt8]) throws(TLSError) {
        ERR_clear_error()
        let rc = unsafe SSL_do_handshake(ssl)
        // Alerts too: before anything is thrown.
        unsafe MemoryBIO.drain(output, into: &reply)
        if rc == 1 {
            isOpen = true
        } else if unsafe SSL_get_error(ssl, rc) != SSL_ERROR_WANT_READ {
            throw fail(rc)
        }
    }

    /// Reads all that is there.
    private mutating func read(into plain: inout [UInt8], reply: inout [UInt8]) throws(TLSError) {
        while true {
            ERR_clear_error()
            var count = 0
            var rc: Int32 = 0
            plain.append(addingCapacity: 16384) { free in
                unsafe free.withUnsafeMutableBufferPointer { room, filled in
                    guard let base = room.baseAddress else { return }
                    rc = unsafe SSL_read_ex(ssl, base + filled, room.count - filled, &count)
                    filled += count
                }
            }
            if rc == 1 { continue }
            // Answers to key updates, and alerts.
            unsafe MemoryBIO.drain(output, into: &reply)
            switch unsafe SSL_get_error(ssl, rc) {
            case SSL_ERROR_WANT_READ: return
            case SSL_ERROR_ZERO_RETURN:
                hasReceivedEnd = true
                return
            default: throw fail(rc)
            }
        }
    }

    private mutating func fail(_ rc: Int32) -> TLSError {
        let error = cause()
        ERR_clear_error()
        failure = error
        return error
    }

    private func cause() -> TLSError {
        let verdict = unsafe SSL_get_verify_result(ssl)
        let isRefused = unsafe verdict != Int(X509_V_OK) && SSL_get_verify_mode(ssl) & SSL_VERIFY_PEER != 0
        var reason = "error \(verdict)"
        if let text = unsafe X509_verify_cert_error_string(verdict) { reason = unsafe String(cString: text) }
        if !isOpen, isRefused, unsafe SSL_is_server(ssl) == 1 {
            return TLSError(.certificate, "the client's certificate is refused: \(reason)")
        }
        guard !isOpen, isRefused, let host else {
            return .queued(.violation, isOpen ? "TLS" : "TLS handshake")
        }
        switch verdict {
        case Int(X509_V_ERR_HOSTNAME_MISMATCH), Int(X509_V_ERR_IP_ADDRESS_MISMATCH):
            return TLSError(.certificate, "certificate verify failed: it is not for \(host); use --insecure-upstream")
        default:
            return TLSError(
                .certificate,
                "certificate verify failed: \(reason); use --upstream-ca FILE or --insecure-upstream")
        }
    }
}
