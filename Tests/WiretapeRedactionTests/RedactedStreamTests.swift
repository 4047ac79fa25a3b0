import Testing
import WiretapeRedaction

@Suite struct RedactedStreamTests {
    private static let jwt = Secrets.jwt(#"{"sub":"ada"}"#)

    private static let texts = [
        "data: {\"token\":\"s3cr3t-99\",\"x\":\"\(jwt)\"}\n\n: c\n\ndata: Bearer abcdefgh12 end\n\n",
        "{\"a\":\"one\",\n \"password\" : \"p w\",\"n\":1}\n{\"apiKey\":12345678}\n",
        "user=ada&access_token=abc%2B99&sig=zz\n", "x \(jwt) y ghp_abcdefghijklmnopqrstuvwxyz0123456789 z\n",
        "--b\r\nContent-Disposition: form-data; name=\"pin\"; x\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; "
            + "name=\"api_secret\"\r\n\r\nabc-def-99\r\n--b--\r\n",
        "dsn=postgres%3A%2F%2Fada%3Apw-123%40db%2Fapp&q=1&note=use+ghp_abcdefghijklmnopqrstuvwxyz0123456789+for+it\n",
        "{\"data\":\"{\\\"auth\\\":\\\"abcdef99\\\"}\"} s3cr3t-99 abcdef99\n",
    ]

    /// Wherever the pieces end, what is written is what a whole text gives.
    @Test(arguments: texts) func everySplitGivesTheSame(text: String) {
        let bytes = Array(text.utf8)
        var whole = Redactor()
        let expected = whole.text(bytes) ?? bytes
        for cut in 0...bytes.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false)
            var out = redactor.piece(Array(bytes[..<cut]), of: &stream)
            out += redactor.piece(Array(bytes[cut...]), of: &stream)
            out += redactor.last([], of: &stream)
            #expect(out == expected, "cut at \(cut): \(String(decoding: out, as: UTF8.self))")
        }
    }

    @Test(arguments: texts) func everyByteAlone(text: String) {
        let bytes = Array(text.utf8)
        var whole = Redactor()
        let expected = whole.text(bytes) ?? bytes
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false)
        var out: [UInt8] = []
        for byte in bytes { out += redactor.piece([byte], of: &stream) }
        out += redactor.last([], of: &stream)
        #expect(out == expected, "\(String(decoding: out, as: UTF8.self))")
    }

    @Test func aKnownSecretIsFoundAcrossPieces() {
        var redactor = Redactor()
        _ = redactor.text(Array(#"{"token":"qq-secret-17"}"#.utf8))
        var stream = RedactedStream(isBinary: false)
        var out = redactor.piece(Array("say qq-sec".utf8), of: &stream)
        #expect(String(decoding: out, as: UTF8.self) == "say ")
        out += redactor.piece(Array("ret-17 and go".utf8), of: &stream)
        #expect(String(decoding: out, as: UTF8.self) == "say td_1 and go")
    }

    @Test func whatNeedsNoWaitDoesNotWait() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false)
        for piece in ["data: {\"x\":\"hello\"}\n\n", "{\"type\":6}\u{1e}", "PING 17", "hello"] {
            #expect(redactor.piece(Array(piece.utf8), of: &stream) == Array(piece.utf8))
        }
        #expect(stream.waiting == 0)
    }

    /// `---` may be the beginning of a private key. As the delimiter of a multipart body it is written together with the previous part.
    @Test func aDelimiterOfHyphensDoesNotWait() {
        let part = "\r\ncontent-type: application/json\r\n\r\n{\"hasNext\":true}\r\n---"
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, boundary: "-")
        for piece in ["\r\n---", part, part, "--\r\n"] {
            #expect(redactor.piece(Array(piece.utf8), of: &stream) == Array(piece.utf8))
        }
        #expect(redactor.last([], of: &stream) == [])
        // Only the last hyphens of this longer delimiter can be the beginning of a private key.
        var longer = RedactedStream(isBinary: false, boundary: "-----")
        #expect(redactor.piece(Array("{}\r\n-------".utf8), of: &longer) == Array("{}\r\n-------".utf8))
        // Other streams hold it back.
        var other = RedactedStream(isBinary: false, boundary: "b")
        #expect(redactor.piece(Array("\r\n---".utf8), of: &other) == Array("\r\n".utf8))
    }

    @Test func aKeyAfterADelimiterOfHyphensIsFound() {
        let text = "\r\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n{}\r\n---"
        let bytes = Array(text.utf8)
        var whole = Redactor()
        let expected = whole.text(bytes) ?? bytes
        #expect(expected != bytes)
        for cut in 0...bytes.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false, boundary: "-")
            var out = redactor.piece(Array(bytes[..<cut]), of: &stream)
            out += redactor.piece(Array(bytes[cut...]), of: &stream)
            out += redactor.last([], of: &stream)
            #expect(out == expected, "cut at \(cut): \(String(decoding: out, as: UTF8.self))")
        }
    }

    /// Only a line that may still become that of a private key waits.
    @Test func otherLinesOfHyphensDoNotWait() {
        for (text, waits) in [
            ("-----BEGIN ", true), ("-----BEGIN RSA PRIV", true), ("-----BEGIN PRIVATE KEY---", true),
            ("-----BEGIN CERTIFICATE-----", false), ("-----BEGIN CERTIFICATE--", false), ("-----BEGIN hello", false),
            ("-----BEGIN " + String(repeating: "A", count: 60), false),
        ] {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false, keepsPieces: true)
            let out = redactor.piece(Array(text.utf8), of: &stream)
            #expect(out == (waits ? [] : Array(text.utf8)), "\(text)")
        }
    }

    /// A secret without an end is not waited for for ever, and none of it is shown.
    @Test func aSecretThatIsTooLongIsLeftOut() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false)
        var out = redactor.piece(Array(#"{"password":""#.utf8), of: &stream)
        for _ in 0..<80 { out += redactor.piece([UInt8](repeating: UInt8(ascii: "s"), count: 4096), of: &stream) }
        out += redactor.piece(Array("sss\",\"x\":1}".utf8), of: &stream)
        #expect(String(decoding: out.prefix(100), as: UTF8.self) == #"{"password":"td_1","x":1}"#)
    }

    @Test func messagePackInPieces() {
        let value: [UInt8] = [0x81, 0xa5] + Array("token".utf8) + [0xa6] + Array("s3cr3t".utf8)
        let expected: [UInt8] = [0x81, 0xa5] + Array("token".utf8) + [0xa4] + Array("td_1".utf8)
        for cut in 1..<value.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: true)
            var out = redactor.piece(Array(value[..<cut]), of: &stream)
            out += redactor.last(Array(value[cut...]), of: &stream)
            #expect(out == expected)
        }
    }

    /// Messages of SignalR in an answer that nobody knows the end of, behind the answer to the handshake: each is written when it is
    /// whole.
    @Test func messagePackThatGoesOn() {
        func message(_ secret: String) -> [UInt8] {
            let value: [UInt8] = [0x91, 0x81, 0xa5] + Array("token".utf8) + [0xa0 + UInt8(secret.utf8.count)]
            return [UInt8(value.count + secret.utf8.count)] + value + Array(secret.utf8)
        }
        let said = Array("{}\u{1e}".utf8) + message("s3cr3t") + message("other9")
        let expected = Array("{}\u{1e}".utf8) + message("td_1") + message("td_2")
        for cut in 0...said.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false, mayBeFramed: true)
            var out = redactor.piece(Array(said[..<cut]), of: &stream)
            out += redactor.piece(Array(said[cut...]), of: &stream)
            #expect(out == expected, "cut at \(cut)")
            out += redactor.last([], of: &stream)
            #expect(out == expected, "cut at \(cut)")
        }
        // What is no MessagePack is text, and does not wait.
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false, mayBeFramed: true, keepsPieces: true)
        #expect(redactor.piece(Array("{\"a\":1}".utf8), of: &stream) == Array("{\"a\":1}".utf8))
    }

    /// A pointer needs the whole document: it waits for it, and not for what is none.
    @Test func placesOfRulesInPieces() throws {
        let rules = RedactionRules([try RedactionRule(parsing: "json:/items/*/iban")])
        let text = Array("data: {\"items\":[{\"n\":1},{\"iban\":\"DE99\"}]}\n\ndata: [what\n\ndata: x\n\n".utf8)
        let expected = "data: {\"items\":[{\"n\":1},{\"iban\":\"td_1\"}]}\n\ndata: [what\n\ndata: x\n\n"
        for cut in 0...text.count {
            var redactor = Redactor(rules)
            var stream = RedactedStream(isBinary: false)
            var out = redactor.piece(Array(text[..<cut]), of: &stream)
            out += redactor.piece(Array(text[cut...]), of: &stream)
            #expect(out.count > expected.utf8.count - 8, "cut at \(cut)")
            out += redactor.last([], of: &stream)
            #expect(String(decoding: out, as: UTF8.self) == expected, "cut at \(cut)")
        }
    }

    @Test func whatIsTooLongToWaitForIsLeftOut() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: true)
        var out = redactor.piece([0xdd, 0, 0x0f, 0xff, 0xff], of: &stream)
        for _ in 0..<17 { out += redactor.piece([UInt8](repeating: 1, count: 1 << 20), of: &stream) }
        #expect(out.isEmpty)
        #expect(stream.isWithheld)
        #expect(redactor.withheld == 1)
    }

    /// Where nothing but the pieces tells where messages end, a piece waits only for a secret that has begun.
    @Test func piecesThatMeanSomething() {
        var redactor = Redactor(RedactionRules())
        var stream = RedactedStream(isBinary: false, keepsPieces: true)
        func pieces(_ texts: [String]) -> [String] {
            texts.map { String(decoding: redactor.piece(Array($0.utf8), of: &stream), as: UTF8.self) }
        }
        let plain = ["pipe|5|x", "{\"a\":1}", " the", " to", "say \"hi", " e", "ey", "http://exam", "ple.org -", "x"]
        #expect(pieces(plain) == plain)
        #expect(pieces(["; token=a1b2", "c3d4e5 ok"]).joined() == "; token=td_1 ok")
        #expect(
            pieces(["see eyJhbGciOiJIUzI1NiJ9.eyJzdW", "IiOiJhZGEifQ.c2lnbmF0dXJl", " end"]).joined().contains(
                "c2lnbmF0") == false)
        // Elsewhere such words wait.
        var other = RedactedStream(isBinary: false)
        #expect(redactor.piece(Array("pipe|5|x".utf8), of: &other) == Array("pipe|5|".utf8))
    }
}
