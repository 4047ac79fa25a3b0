/// How the authority's certificate comes to be trusted, and how that ends.
package enum TrustHelp {
    package static func text(certificate: String) -> String {
        """
        Trust the certificate only where you test, and take it away when you are done.

        A command behind -- trusts it already: WIRETAPE_CA, NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, REQUESTS_CA_BUNDLE and
        CURL_CA_BUNDLE are set for it.

        Programs
          curl         curl --cacert \(certificate) https://…
          Python       SSL_CERT_FILE, REQUESTS_CA_BUNDLE (requests), or ssl.create_default_context(cafile=…)
          node         NODE_EXTRA_CA_CERTS=\(certificate)
          Java         keytool -importcert -cacerts -storepass changeit -alias wiretape -file \(certificate)
          .NET, Go     the system's certificates (below); Go also SSL_CERT_FILE
        Systems
          Debian       cp \(certificate) /usr/local/share/ca-certificates/wiretape.crt && update-ca-certificates
          Fedora       cp \(certificate) /etc/pki/ca-trust/source/anchors/wiretape.pem && update-ca-trust
          macOS        security add-trusted-cert -k ~/Library/Keychains/login.keychain-db \(certificate)
          Windows      certutil -user -addstore Root ca.pem
        Browsers
          Chromium     certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n wiretape -i \(certificate)
          Firefox      Settings, Privacy & Security, View Certificates, Authorities, Import
        Phones
          iPhone       wiretape ca export --format apple -o wiretape.mobileconfig; send it to the phone and install it, then
                       Settings, General, About, Certificate Trust Settings: switch it on
          Android      wiretape ca export --format der -o wiretape.cer; Settings, Security, Install a certificate; apps trust
                       it when their network security configuration has <certificates src="user"/>

        To take it away, remove what you added; 'wiretape ca init --force' makes a new one, and the old one is worth nothing.

        """
    }
}
