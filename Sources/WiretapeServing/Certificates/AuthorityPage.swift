internal import WiretapeBytes
internal import WiretapeProxy
package import WiretapeTLS
package import WiretapeWire

/// What a forward proxy answers at its magic host: the authority's certificate, as a phone or a browser that uses the proxy
/// can install it.
package struct AuthorityPage {
    private let authority: TLSIdentity?

    /// - Parameter authority: nil when clients are shown a certificate of `--cert`.
    package init(_ authority: TLSIdentity?) {
        self.authority = authority
    }

    package func answer(_ head: RequestHead) -> HTTPAnswer {
        guard head.method == "GET" || head.method == "HEAD" else {
            return Self.page(405, "<p>There is only GET here.</p>", [HeaderField("Allow", "GET, HEAD")])
        }
        guard let authority else {
            return Self.page(
                200,
                "<p>This proxy shows clients a certificate that was given to it (--cert): trust who issued that one.</p>"
            )
        }
        switch head.path {
        case "/": return Self.page(200, Self.links(authority))
        case "/ca.pem": return Self.file("application/x-pem-file", "ca.pem", authority.certificatePEM)
        case "/ca.cer": return Self.file("application/x-x509-ca-cert", "ca.cer", authority.certificateDER)
        case "/ca.mobileconfig":
            return Self.file("application/x-apple-aspen-config", "wiretape.mobileconfig", AppleProfile.text(authority))
        default: return Self.page(404, "<p>There is nothing of that name. <a href=\"/\">What there is</a></p>")
        }
    }

    private static func links(_ authority: TLSIdentity) -> String {
        """
        <p>Install the certificate of this proxy's authority on devices with which you test, and remove it afterwards.</p>
        <ul>
        <li><a href="/ca.mobileconfig">iPhone, iPad, Mac</a>: a profile. On a phone switch it on in Settings, General, About,
        Certificate Trust Settings.</li>
        <li><a href="/ca.cer">Android, Windows</a>: Settings, Security, Encryption, Install a certificate, CA certificate.</li>
        <li><a href="/ca.pem">Everything else</a>: a file in PEM; <code>wiretape ca trust-help</code> says where it goes.</li>
        </ul>
        <p>\(Markup.escaped(authority.names[0]))<br>SHA-256 \(authority.fingerprint)</p>
        """
    }

    private static func page(_ status: Int, _ body: String, _ headers: [HeaderField] = []) -> HTTPAnswer {
        let text = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Wiretape</title></head>
            <body><h1>Wiretape</h1>
            \(body)
            </body></html>

            """
        return HTTPAnswer(
            status: status, headers: [HeaderField("Content-Type", "text/html; charset=utf-8")] + headers,
            body: Array(text.utf8))
    }

    private static func file(_ type: String, _ name: String, _ bytes: [UInt8]) -> HTTPAnswer {
        HTTPAnswer(
            status: 200,
            headers: [
                HeaderField("Content-Type", type),
                HeaderField("Content-Disposition", "attachment; filename=\"\(name)\""),
            ],
            body: bytes)
    }
}
