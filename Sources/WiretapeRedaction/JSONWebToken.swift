internal import WiretapeBytes
internal import WiretapeWire

/// A JSON Web Token (RFC 7519) in its compact form: three texts in base64url with dots between them, the first two of
/// them JSON objects. The signature may be empty.
package struct JSONWebToken {
    private let header: JSONValue
    private let claims: JSONValue

    /// Longer ones are none: their size is an attack.
    package static let longest = 16 << 10

    /// Nil for any other text.
    package init?(_ text: [UInt8]) {
        guard text.count <= JSONWebToken.longest, text.starts(with: "eyJ".utf8) else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].allSatisfy(JSONWebToken.isLetter),
            let header = JSONWebToken.object(parts[0]), let claims = JSONWebToken.object(parts[1])
        else { return nil }
        self.header = header
        self.claims = claims
    }

    /// Whom it is about.
    package var subject: String? { claims["sub"]?.string }

    /// Claims that are times: what clients look at to find out whether their token still holds.
    private static let times = ["auth_time", "exp", "iat", "nbf"]

    /// A token of the same algorithm with the same times, and nothing else of the old one.
    func pseudonym(_ number: Int) -> [UInt8] {
        let name = JSONValue.string("td_\(number)")
        var kept: [JSONValue.Member] = []
        for key in ["alg", "typ"] {
            if let value = header[key], value.string.map({ $0.utf8.count <= 16 }) == true {
                kept.append(.init(key, value))
            }
        }
        var claims: [JSONValue.Member] = [.init("sub", name)]
        for key in JSONWebToken.times {
            if case .number(let text)? = self.claims[key], text.utf8.count <= 20 {
                claims.append(.init(key, .number(text)))
            }
        }
        let parts = [JSONValue.object(kept).text, JSONValue.object(claims).text, "td_\(number)"]
        return Array(parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".").utf8)
    }

    package static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: true
        default: false
        }
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64URL.decode(part), let value = try? JSONValue(parsing: bytes), value.members != nil
        else {
            return nil
        }
        return value
    }
}

/// Base64 with the alphabet for URLs and without padding (RFC 4648, 5).
enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes.span).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Takes both alphabets. Nil for anything else.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let standard: [UInt8] = text.map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
        }
        return Base64.decode(standard.span)
    }
}
