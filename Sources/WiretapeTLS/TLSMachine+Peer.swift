internal import CWiretapeOpenSSL

// Lifetime: the certificate is freed in the function that asks for it; its entries are its own, and their texts are copied.

extension TLSMachine {
    /// Whom the certificate is for that the other side has shown, and proved to be its own: `CN=device-17,O=Example`. What says
    /// more of a person than whom they are for (addresses of mail, serial numbers) is left out. Nil when it has shown none.
    package var peerSubject: String? {
        guard isOpen, let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        defer { unsafe X509_free(certificate) }
        let name = unsafe X509_get_subject_name(certificate)
        var parts: [String] = []
        for index in 0..<(unsafe X509_NAME_entry_count(name)) {
            let entry = unsafe X509_NAME_get_entry(name, index)
            let kind = unsafe OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))
            guard Self.told.contains(kind), let word = unsafe OBJ_nid2sn(kind) else { continue }
            var text: UnsafeMutablePointer<UInt8>?
            let count = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
            guard count >= 0, let start = unsafe text else { continue }
            let value = unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
            unsafe wiretape_OPENSSL_free(start)
            parts.append(unsafe String(cString: word) + "=" + Self.escaped(value))
        }
        let text = parts.joined(separator: ",")
        return text.isEmpty ? "no name" : String(text.prefix(Self.longest))
    }

    /// Characters of a subject that are told.
    private static let longest = 256
    private static let told: Set<Int32> = [
        NID_commonName, NID_organizationName, NID_organizationalUnitName, NID_countryName, NID_stateOrProvinceName,
        NID_localityName, NID_domainComponent,
    ]

    /// As RFC 4514 writes a value.
    private static func escaped(_ value: String) -> String {
        value.reduce(into: "") { text, character in
            if ",+\"\\<>;=".contains(character) { text.append("\\") }
            text.append(character)
        }
    }
}
