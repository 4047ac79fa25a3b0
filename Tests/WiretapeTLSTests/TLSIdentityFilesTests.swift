import Testing
import WiretapeTLS

/// Authorities that are kept in files, given certificates, and what identifies them.
struct TLSIdentityFilesTests {
    private static func reason(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch { return "\(error)" }
    }

    /// What a kept authority issues is trusted by those who trust the first one.
    @Test func anAuthorityIsKept() throws {
        let first = try TestCertificates.authority.get()
        let kept = try TLSIdentity.authority(certificate: first.certificatePEM, key: first.keyPEM)
        #expect(kept.names == first.names)
        #expect(kept.fingerprint == first.fingerprint && kept.fingerprint.count == 95)
        var pair = try TLSPair(
            TestCertificates.trusting(first), try TLSContext(serverIssuing: kept), host: "example.test")
        try pair.shakeHands()
        #expect(pair.clientFailure == nil)
        #expect((pair.server.isOpen) == true)
    }

    @Test func whatIsNoAuthorityIsRefused() throws {
        let one = try TestCertificates.authority.get()
        let other = try TestCertificates.stranger.get()
        let leaf = try TLSIdentity(names: ["example.test"], issuer: one)
        let cases: [(certificate: [UInt8], key: [UInt8], says: String)] = [
            ([], one.keyPEM, "holds no certificate"), (one.certificatePEM, [], "holds no private key"),
            (one.certificatePEM, Array("nonsense".utf8), "holds no private key"),
            (one.certificatePEM, other.keyPEM, "do not belong together"),
            (leaf.certificatePEM, leaf.keyPEM, "may not issue others"),
        ]
        for one in cases {
            let said = Self.reason { _ = try TLSIdentity.authority(certificate: one.certificate, key: one.key) }
            #expect(said?.contains(one.says) == true, "\(said ?? "nothing") is not \(one.says)")
        }
    }

    /// A certificate from a file, with the one that issued it behind it.
    @Test func aGivenCertificateIsShown() throws {
        let authority = try TestCertificates.authority.get()
        let leaf = try TLSIdentity(names: ["given.test"], issuer: authority)
        let certificate = try TestFile.write(leaf.certificatePEM + authority.certificatePEM)
        let key = try TestFile.write(leaf.keyPEM)
        defer {
            TestFile.remove(certificate)
            TestFile.remove(key)
        }
        let server = try TLSContext(certificate: certificate, key: key)
        var pair = try TLSPair(TestCertificates.trusting(authority), server, host: "given.test")
        try pair.shakeHands()
        #expect((pair.client.isOpen) == true)
        var other = try TLSPair(TestCertificates.trusting(authority), server, host: "other.test")
        try other.shakeHands()
        #expect(other.clientFailure?.code == .certificate)
        #expect(Self.reason { _ = try TLSContext(certificate: key, key: key) }?.contains("certificate") == true)
        let stranger = try TestFile.write(try TestCertificates.stranger.get().keyPEM)
        defer { TestFile.remove(stranger) }
        #expect(Self.reason { _ = try TLSContext(certificate: certificate, key: stranger) } != nil)
    }

    /// Each connection leaves the lines that a dissector needs, under the random bytes of its client.
    @Test func keysAreLogged() throws {
        let path = try TestFile.write(Array("# kept\n".utf8))
        defer { TestFile.remove(path) }
        let authority = try TestCertificates.authority.get()
        let server = try TLSContext(serverIssuing: authority, keyLog: try TLSKeyLog(path: path))
        for _ in 0..<2 {
            var pair = try TLSPair(TestCertificates.trusting(authority), server, host: "example.test")
            try pair.shakeHands()
        }
        let lines = try TestFile.read(path).split(separator: "\n")
        #expect(lines.first == "# kept")
        let labels = lines.dropFirst().compactMap { $0.split(separator: " ").first }
        #expect(labels.count(where: { $0 == "CLIENT_TRAFFIC_SECRET_0" }) == 2)
        #expect(labels.count(where: { $0 == "SERVER_TRAFFIC_SECRET_0" }) == 2)
    }
}
