internal import WiretapeBytes
package import WiretapeTLS

/// A configuration profile that installs the authority's certificate on iPhones and Macs (Apple, "Configuration Profile
/// Reference", payload `com.apple.security.root`). It is not signed. On an iPhone the certificate must be switched on
/// afterwards: Settings, General, About, Certificate Trust Settings.
package enum AppleProfile {
    package static func text(_ authority: TLSIdentity) -> [UInt8] {
        let name = Markup.escaped(authority.names[0])
        // The same certificate is the same profile: installing it again replaces it.
        let digits = authority.fingerprint.filter { $0 != ":" }
        let payload = uuid(digits.prefix(32))
        let profile = uuid(digits.suffix(32))
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
              <key>PayloadContent</key>
              <array>
                <dict>
                  <key>PayloadCertificateFileName</key><string>wiretape.cer</string>
                  <key>PayloadContent</key><data>\(Base64.encode(authority.certificateDER.span))</data>
                  <key>PayloadDescription</key><string>Lets this device connect through Wiretape.</string>
                  <key>PayloadDisplayName</key><string>\(name)</string>
                  <key>PayloadIdentifier</key><string>wiretape.authority.\(payload)</string>
                  <key>PayloadType</key><string>com.apple.security.root</string>
                  <key>PayloadUUID</key><string>\(payload)</string>
                  <key>PayloadVersion</key><integer>1</integer>
                </dict>
              </array>
              <key>PayloadDisplayName</key><string>\(name)</string>
              <key>PayloadIdentifier</key><string>wiretape.profile.\(profile)</string>
              <key>PayloadRemovalDisallowed</key><false/>
              <key>PayloadType</key><string>Configuration</string>
              <key>PayloadUUID</key><string>\(profile)</string>
              <key>PayloadVersion</key><integer>1</integer>
            </dict>
            </plist>

            """
        return Array(text.utf8)
    }

    private static func uuid(_ digits: some StringProtocol) -> String {
        var out = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { out.append("-") }
            out.append(digit)
        }
        return out
    }
}
