import Testing
import WiretapeTLS

struct TLSTrustTests {
    let authority: TLSIdentity
    let client: TLSContext

    init() throws {
        authority = try TestCertificates.authority.get()
        client = try TestCertificates.trusting(authority)
    }

    private func refusal(_ client: TLSContext, _ identity: TLSIdentity, host: String = "right.test") throws -> String? {
        var pair = try TLSPair(client, try TLSContext(server: identity), host: host)
        try pair.shakeHands()
        // The server learns of it by an alert.
        #expect((pair.clientFailure == nil) == (pair.serverFailure == nil))
        if pair.clientFailure != nil { #expect(pair.clientFailure?.code == .certificate) }
        let isOpen = pair.client.isOpen
        #expect(isOpen == (pair.clientFailure == nil))
        return pair.clientFailure?.message
    }

    @Test func theRightNameOfAnIssuerInTheFile() throws {
        #expect(try refusal(client, TLSIdentity(names: ["other.test", "right.test"], issuer: authority)) == nil)
    }

    @Test func wrongName() throws {
        let identity = try TLSIdentity(names: ["wrong.test"], issuer: authority)
        #expect(
            try refusal(client, identity)
                == "certificate verify failed: it is not for right.test; use --insecure-upstream")
    }

    @Test func wrongAddress() throws {
        let identity = try TLSIdentity(names: ["127.0.0.1"], issuer: authority)
        #expect(try refusal(client, identity, host: "127.0.0.1") == nil)
        #expect(
            try refusal(client, identity, host: "127.0.0.2")
                == "certificate verify failed: it is not for 127.0.0.2; use --insecure-upstream")
    }

    /// A common name is no name of a server, however much it looks like one.
    @Test(arguments: ["right.test", "127.0.0.1", "localhost"]) func aCertificateThatListsNoName(_ name: String) throws {
        let identity = try TLSIdentity(commonName: name, issuer: authority)
        #expect(
            try refusal(client, identity, host: name)
                == "certificate verify failed: it is not for \(name); use --insecure-upstream")
        #expect(try refusal(TLSContext(client: .everyone), identity, host: name) == nil)
    }

    /// What cannot be checked is not connected to: OpenSSL would check nothing, or something else.
    @Test(arguments: ["", ".", "right.test\u{0}.evil.test", "\u{0}", "[]", String(repeating: "a", count: 70_000)])
    func aNameThatCannotBeChecked(_ host: String) throws {
        let error = #expect(throws: TLSError.self) { _ = try TLSMachine(client, connectingTo: host) }
        #expect(error?.code == .setup)
    }

    @Test func expired() throws {
        let identity = try TLSIdentity(names: ["right.test"], issuer: authority, from: -7200, to: -3600)
        #expect(try refusal(client, identity)?.hasPrefix("certificate verify failed: certificate has expired") == true)
    }

    @Test func notYetValid() throws {
        let identity = try TLSIdentity(names: ["right.test"], issuer: authority, from: 3600, to: 7200)
        #expect(try refusal(client, identity)?.contains("not yet valid") == true)
    }

    @Test func selfSigned() throws {
        let identity = try TLSIdentity(names: ["right.test"], issuer: nil)
        #expect(
            try refusal(client, identity)
                == "certificate verify failed: self-signed certificate; use --upstream-ca FILE or --insecure-upstream")
        #expect(try refusal(TestCertificates.trusting(identity), identity) == nil)
    }

    @Test func anotherIssuer() throws {
        let identity = try TLSIdentity(names: ["right.test"], issuer: TestCertificates.stranger.get())
        #expect(try refusal(client, identity)?.contains("unable to get local issuer certificate") == true)
        #expect(try refusal(TLSContext(client: .system), identity)?.contains("--upstream-ca FILE") == true)
    }

    @Test func everyoneIsTrustedWhenAsked() throws {
        let insecure = try TLSContext(client: .everyone)
        #expect(try refusal(insecure, TLSIdentity(names: ["wrong.test"], issuer: nil, from: -7200, to: -3600)) == nil)
    }

    @Test func filesThatHoldNoCertificate() throws {
        let path = try TestFile.write(Array("not a certificate".utf8))
        defer { TestFile.remove(path) }
        let empty = #expect(throws: TLSError.self) { _ = try TLSContext(client: .systemAnd(file: path)) }
        #expect(empty?.message == "\(path): holds no certificate (PEM is expected)")
        let missing = #expect(throws: TLSError.self) { _ = try TLSContext(client: .systemAnd(file: path + ".no")) }
        #expect(missing?.message == "\(path).no: No such file or directory")
    }

    @Test func oneCertificateForEachName() throws {
        let server = try TLSContext(serverIssuing: authority)
        for host in ["a.test", "b.test", "a.test"] {
            var pair = try TLSPair(client, server, host: host)
            try pair.shakeHands()
            #expect(pair.clientFailure == nil)
            #expect(pair.server.serverName == host)
        }
    }
}
