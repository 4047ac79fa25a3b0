import Testing
import WiretapeTLS

/// Which file is trusted where OpenSSL's own places are another system's.
@Suite struct SystemTrustTests {
    private let builtIn = ["/usr/lib/ssl/cert.pem", "/usr/lib/ssl/certs"]

    private func found(_ files: Set<String>, _ environment: [String: String] = [:]) -> String? {
        SystemTrust.besides(builtIn: builtIn, environment: { environment[$0] }, exists: files.contains)
    }

    @Test func openSSLsOwnPlacesAreEnough() {
        #expect(found(["/usr/lib/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"]) == nil)
        #expect(found(["/usr/lib/ssl/cert.pem", "/etc/ssl/cert.pem"]) == nil)
    }

    @Test(arguments: SystemTrust.bundles) func elsewhereTheSystemsFileIsRead(_ bundle: String) {
        #expect(found([bundle]) == bundle)
    }

    @Test func thereMayBeNone() { #expect(found([]) == nil) }

    @Test(arguments: ["SSL_CERT_FILE", "SSL_CERT_DIR"]) func whatIsNamedStandsAlone(_ name: String) {
        #expect(found(["/etc/ssl/cert.pem"], [name: "/mine"]) == nil)
        #expect(found(["/etc/ssl/cert.pem"], [name: ""]) == "/etc/ssl/cert.pem")
    }
}
