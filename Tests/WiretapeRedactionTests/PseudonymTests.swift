import Testing
import WiretapeBytes
import WiretapeRedaction
import WiretapeWire

@Suite struct PseudonymTests {
    private static let token = Secrets.jwt(#"{"sub":"ada","exp":1999999999,"iat":5,"role":"admin"}"#)

    @Test(arguments: [
        ("hunter2-hunter2", "td_7"),
        ("278d425bdf160c739803a1f2", "74645f000000000000000007"),
        ("ABCDEF0123456789", "74645F0000000007"),
        ("9f1c2d3e-aaaa-4bbb-8ccc-0123456789ab", "74645f00-0000-4000-8000-000000000007"),
    ]) func aPseudonymHasTheSecretsShape(secret: String, expected: String) {
        let made = Pseudonym.make(7, for: Array(secret.utf8))
        #expect(String(decoding: made, as: UTF8.self) == expected)
        #expect(Pseudonym.number(of: made) == 7)
        #expect(Pseudonym.number(of: secret) == nil)
    }

    @Test func aTokenStaysATokenWithItsTimes() throws {
        let made = Pseudonym.make(12, for: Array(Self.token.utf8))
        let parts = String(decoding: made, as: UTF8.self).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let claims = try JSONValue(parsing: try #require(Secrets.base64URLDecoded(parts[1])))
        #expect(claims["sub"]?.string == "td_12")
        #expect(claims["exp"]?.int == 1_999_999_999)
        #expect(claims["iat"]?.int == 5)
        #expect(claims["role"] == nil)
        #expect(try JSONValue(parsing: try #require(Secrets.base64URLDecoded(parts[0])))["alg"]?.string == "HS256")
        #expect(Pseudonym.number(of: made) == 12)
    }

    @Test func numbersStayNumbers() {
        #expect(Pseudonym.number(3) == "746400003")
        #expect(Pseudonym.number(of: "746400003") == 3)
    }

    @Test func pseudonymsAreFoundWithinTexts() {
        let token = String(decoding: Pseudonym.make(4, for: Array(Self.token.utf8)), as: UTF8.self)
        let text = "Bearer td_12; k:74645f0000000003 \(token). xtd_5 td_ td_9x"
        let found = Pseudonym.ranges(in: Array(text.utf8)).map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) }
        #expect(found == ["td_12", "74645f0000000003", token])
        // Behind an escape of JSON, and of JSON within JSON.
        let escaped = Array(#"a\ntd_1\\ntd_2 \u00e9td_3 \"td_4\" ntd_5"#.utf8)
        #expect(Pseudonym.ranges(in: escaped).map { Pseudonym.number(of: Array(escaped[$0])) } == [1, 2, 3, 4])
    }
}

/// Secrets as clients and servers make them.
enum Secrets {
    static func jwt(_ claims: String) -> String {
        let parts = [#"{"alg":"HS256","typ":"JWT"}"#, claims].map { base64URL(Array($0.utf8)) }
        return parts.joined(separator: ".") + ".c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4tMDEyMzQ1Njc4OQ"
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes.span).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func base64URLDecoded(_ text: String) -> [UInt8]? {
        Base64.decode(text.replacing("-", with: "+").replacing("_", with: "/"))
    }
}
