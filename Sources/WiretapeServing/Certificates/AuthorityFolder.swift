internal import WiretapeBytes
package import WiretapeCommandLine
internal import WiretapeSystem
package import WiretapeTLS

/// The folder with the certificate authority of this user: `ca.pem`, which clients trust, and `ca.key`, which only its owner
/// may read. Who has the key can stand in front of every server towards those who trust the certificate.
package struct AuthorityFolder {
    let path: String

    package var certificatePath: String { path + "/ca.pem" }
    private var keyPath: String { path + "/ca.key" }
    /// The system's certificates and ours, for programs that trust one file only.
    private var bundlePath: String { path + "/bundle.pem" }

    /// - Parameter path: nil for `$WIRETAPE_CA_DIR`, else `wiretape/ca` in the user's data (XDG Base Directory Specification).
    package init(_ path: String?) throws(Failure) {
        if let path = path ?? ThisProcess.environment("WIRETAPE_CA_DIR"), !path.isEmpty {
            self.path = path
        } else if let data = ThisProcess.environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            self.path = data + "/wiretape/ca"
        } else if let home = ThisProcess.environment("HOME"), !home.isEmpty {
            self.path = home + "/.local/share/wiretape/ca"
        } else {
            throw Failure("there is no home folder for the certificate authority: name a folder with --ca-dir")
        }
    }

    package var exists: Bool { File.exists(certificatePath) && File.exists(keyPath) }

    /// The authority that is there.
    package func load() throws(Failure) -> TLSIdentity {
        guard exists else {
            throw Failure("there is no certificate authority in \(path); make one with 'wiretape ca init'", .missing)
        }
        guard File.isPrivate(keyPath) else {
            throw Failure(
                "\(keyPath) belongs to another user, or others can read it. Anyone who has this key can pretend to be any server to "
                    + "your clients: run 'wiretape ca init --force', and trust the new certificate. If the key is yours and nobody "
                    + "has read it, 'chmod 600 \(keyPath)' is enough")
        }
        do {
            return try TLSIdentity.authority(certificate: try read(certificatePath), key: try read(keyPath))
        } catch let error as TLSError {
            throw Failure("\(path): \(error)")
        } catch {
            throw Failure("\(error)")
        }
    }

    /// The authority that is there, else a new one.
    func loadOrMake() throws(Failure) -> (authority: TLSIdentity, isNew: Bool) {
        if exists { return (try load(), false) }
        return (try make(force: false), true)
    }

    /// Makes an authority and keeps it.
    /// - Parameter force: whether one that is there is replaced.
    package func make(force: Bool) throws(Failure) -> TLSIdentity {
        if !force, File.exists(certificatePath) || File.exists(keyPath) {
            throw Failure(
                "there is a certificate authority in \(path) already; --force replaces it, and clients have to trust the new one"
            )
        }
        do {
            let user = ThisProcess.environment("USER") ?? ThisProcess.environment("LOGNAME") ?? "somebody"
            // Two authorities with one name and different keys confuse those who look an issuer up by its name.
            let mark = String(ThisProcess.randomSeed, radix: 16).prefix(8)
            let authority = try TLSIdentity.authority("Wiretape authority of \(user.prefix(24)) (\(mark))")
            try File.makeFolder(path)
            try replace(keyPath, with: authority.keyPEM)
            try replace(certificatePath, with: authority.certificatePEM)
            try? File.remove(bundlePath)
            return authority
        } catch {
            throw Failure("\(error)")
        }
    }

    /// The file with the system's certificates and ours, made anew.
    /// - Returns: nil when the system's are not found where systems keep them.
    func bundle(_ authority: TLSIdentity) throws(Failure) -> String? {
        let places = [ThisProcess.environment("SSL_CERT_FILE") ?? ""] + SystemTrust.bundles
        guard let place = places.first(where: { !$0.isEmpty && $0 != bundlePath && File.exists($0) }) else {
            return nil
        }
        do {
            try replace(bundlePath, with: try read(place) + [0x0a] + authority.certificatePEM)
            return bundlePath
        } catch {
            throw Failure("\(error)")
        }
    }

    private func read(_ path: String) throws(FileError) -> [UInt8] {
        let file = try File.reading(path)
        var bytes: [UInt8] = []
        while bytes.count < 16 << 20, try file.read(at: UInt64(bytes.count), limit: 65_536, into: &bytes) > 0 {}
        return bytes
    }

    /// Whole or not at all, for its owner only.
    private func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let temporary = "\(path).\(ThisProcess.id).tmp"
        try? File.remove(temporary)
        let file = try File.creating(temporary, overwrite: false)
        try file.write(bytes.span)
        try file.sync()
        try SystemFiles().move(temporary, to: path)
    }
}
