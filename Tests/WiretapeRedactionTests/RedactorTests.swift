import Testing
import WiretapeBytes
import WiretapeRedaction
import WiretapeWire

@Suite struct RedactorTests {
    /// Rule names stay, and the client's tokens are redacted.
    @Test func theUsersWordsAreSpared() {
        let rule = "respond(401) on connect[token=stale]"
        var redactor = Redactor()
        #expect(
            redactor.text("fault '\(rule)' fired at ?token=abcdef12345, token=stale", sparing: ["reset after X", rule])
                == "fault '\(rule)' fired at ?token=td_1, token=td_2")
        #expect(redactor.text("\(rule) \(rule)", sparing: [rule]) == "\(rule) \(rule)")
        #expect(redactor.text(rule) != rule)
    }

    private static let jwt = Secrets.jwt(#"{"sub":"ada","exp":1999999999}"#)
    private static let hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"

    private func redacted(_ text: String, _ redactor: inout Redactor) -> String {
        redactor.text(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    private func redacted(_ text: String) -> String {
        var redactor = Redactor()
        return redacted(text, &redactor)
    }

    // MARK: Heads

    @Test(arguments: [
        ("Authorization", "Bearer abcdefgh12", "Bearer td_1"), ("Authorization", "abcdefgh12", "td_1"),
        ("Proxy-Authorization", "Basic dXNlcjpwYXNzd29yZDE=", "Basic td_1"), ("X-Api-Key", "k-12345", "td_1"),
        ("x-amz-security-token", "abc.def", "td_1"), ("Cookie", "a=1; sid=\"x y\"; b=", "a=td_1; sid=\"td_2\"; b="),
        ("Set-Cookie", "sid=s3cr3t; Path=/; HttpOnly", "sid=td_1; Path=/; HttpOnly"),
        ("Location", "/next?token=abc&x=1", "/next?token=td_1&x=1"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Accept", "text/html", "text/html"),
    ]) func headerFields(name: String, value: String, expected: String) {
        var redactor = Redactor()
        let head = redactor.head(RequestHead(method: "GET", target: "/", headers: [HeaderField(name, value)]))
        #expect(head.headers[0].value == expected)
    }

    @Test(arguments: [
        ("/chat?id=AbC-123&access_token=abc%2Bdef&v=1", "/chat?id=AbC-123&access_token=td_1&v=1"),
        (
            "/x?auth_signature=\(hex)&auth_key=app",
            "/x?auth_signature=74645f\(String(repeating: "0", count: 57))1&auth_key=app"
        ),
        ("/blob?sv=2020&sig=a%2Fb%3D", "/blob?sv=2020&sig=td_1"),
        ("/p?apiKey=k1&token=k1", "/p?apiKey=td_1&token=td_1"),
        ("/plain?q=token", "/plain?q=token"),
        // What items say is read decoded, whatever they are called.
        (
            "/x?dsn=postgres%3A%2F%2Fada%3Apw-123%40db%2Fapp&q=a%20b",
            "/x?dsn=postgres%3A%2F%2Fada%3Atd_1%40db%2Fapp&q=a%20b"
        ),
        (
            "/x?note=use+ghp_abcdefghijklmnopqrstuvwxyz0123456789+now&next=%2Fcb%3Ftoken%3Dabc",
            "/x?note=use+td_1+now&next=%2Fcb%3Ftoken%3Dtd_2"
        ),
    ]) func targets(target: String, expected: String) {
        var redactor = Redactor()
        #expect(redactor.head(RequestHead(method: "GET", target: target)).target == expected)
    }

    @Test func packedJSONInQueriesAndSubprotocols() throws {
        let packed = Secrets.base64URL(Array(#"{"host":"h","x-api-key":"da2-secret99"}"#.utf8))
        var redactor = Redactor()
        let head = redactor.head(
            RequestHead(
                method: "GET", target: "/graphql?header=\(packed)",
                headers: [HeaderField("Sec-WebSocket-Protocol", "graphql-ws, header-\(packed)")]))
        let item = try #require(head.target.split(separator: "=").last)
        let bytes = try #require(Secrets.base64URLDecoded(String(item)))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"host":"h","x-api-key":"td_1"}"#)
        #expect(head.headers[0].value == "graphql-ws, header-\(item)")
    }

    // MARK: Texts

    @Test(arguments: [
        (#"{"a":1,"token":"s3cr3t","b":[2]}"#, #"{"a":1,"token":"td_1","b":[2]}"#),
        (#"{"password" : "a\"b\\c" }"#, #"{"password" : "td_1" }"#),
        (#"{"apiKey":12345678}"#, #"{"apiKey":746400001}"#),
        (#"{"token":7,"secret":true}"#, #"{"token":7,"secret":true}"#),
        (
            #"{"data":"{\"channel\":\"c\",\"auth\":\"key:\#(hex)\"}"}"#,
            #"{"data":"{\"channel\":\"c\",\"auth\":\"key:74645f\#(String(repeating: "0", count: 57))1\"}"}"#
        ),
        ("data: {\"token\":\ndata:  \"s3cr3t\"}\n\n", "data: {\"token\":\ndata:  \"td_1\"}\n\n"),
        ("user=ada&password=a%26b+c&x=1", "user=ada&password=td_1&x=1"),
        (
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cr3t\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ntd_1\r\n--b--"
        ),
        ("see https://ada:s3cr3t@host/x", "see https://ada:td_1@host/x"),
        ("send Bearer abcdefgh12 now", "send Bearer td_1 now"),
        ("Basic training for all", "Basic training for all"), ("a tokens = 5", "a tokens = 5"),
        ("key ghp_abcdefghijklmnopqrstuvwxyz0123456789 ok", "key td_1 ok"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\ntd_1\n-----END RSA PRIVATE KEY-----"
        ),
        (
            #"{"type":"connection_init","payload":{"who":"ada@x","n":123456,"deep":{"k":"v v"}}}"#,
            #"{"type":"connection_init","payload":{"who":"td_1","n":746400002,"deep":{"k":"td_3"}}}"#
        ),
        (#"{"payload":{"a":"b"},"type":"connection_init"}"#, #"{"payload":{"a":"td_1"},"type":"connection_init"}"#),
    ]) func textsOfAllForms(text: String, expected: String) { #expect(redacted(text) == expected) }

    @Test func tokensAnywhere() {
        let text = redacted("var x = '\(Self.jwt)'; // \(Self.jwt).")
        #expect(!text.contains("c2lnbmF0"))
        #expect(Pseudonym.ranges(in: Array(text.utf8)).count == 2)
    }

    @Test(arguments: [
        #"{"type":1,"target":"Send","arguments":["ada","hi"]}"# + "\u{1e}", "plain text, nothing else", "",
        #"{"connectionToken":"AbCdEfGhIjKlMnOpQrStUv","connectionId":"x"}"#, #"{"nextToken":null,"tokens":[1,2]}"#,
    ]) func whatHasNoSecretsStays(text: String) {
        var redactor = Redactor()
        #expect(redactor.text(Array(text.utf8)) == nil)
        #expect(redactor.secrets == 0)
    }

    @Test func aSecretIsKnownFromThenOn() {
        var redactor = Redactor()
        let head = redactor.head(
            RequestHead(method: "GET", target: "/", headers: [HeaderField("Authorization", "Bearer tok-12345678")]))
        #expect(head.headers[0].value == "Bearer td_1")
        #expect(redacted(#"{"hello":"you are tok-12345678!"}"#, &redactor) == #"{"hello":"you are td_1!"}"#)
        #expect(redacted(#"{"token":"tok-12345678"}"#, &redactor) == #"{"token":"td_1"}"#)
        #expect(redacted(#"{"token":"another"}"#, &redactor) == #"{"token":"td_2"}"#)
    }

    @Test func thePasswordOfBasicIsASecretOfItsOwn() {
        var redactor = Redactor()
        _ = redactor.fields([HeaderField("Authorization", "Basic YWRhOnMzY3IzdC1wYXNz")])
        #expect(redacted("hello s3cr3t-pass", &redactor) == "hello td_2")
    }

    /// Some servers read a plus as a blank, and say so.
    @Test func aPlusIsABlankOrAPlus() {
        var redactor = Redactor()
        #expect(redacted("user=ada&password=correct+h0rse&x=1", &redactor) == "user=ada&password=td_1&x=1")
        #expect(redacted(#"{"said":"correct h0rse, correct+h0rse"}"#, &redactor) == #"{"said":"td_1, td_1"}"#)
    }

    @Test func privateKeys() {
        var redactor = Redactor()
        let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\nAwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----"
        let hidden = "-----BEGIN PRIVATE KEY-----\ntd_1\n-----END PRIVATE KEY-----"
        #expect(redacted(key, &redactor) == hidden)
        #expect(redacted(hidden, &redactor) == hidden)
        let escaped = { (text: String) in text.replacing("\n", with: "\\n") }
        #expect(redacted(#"{"note":"\#(escaped(key)) bye"}"#, &redactor) == #"{"note":"\#(escaped(hidden)) bye"}"#)
    }

    @Test func redactingTwiceChangesNothing() {
        let once = redacted(#"{"token":"s3cr3t","jwt":"\#(Self.jwt)","apiKey":12345678,"sig":"\#(Self.hex)"}"#)
        var redactor = Redactor()
        #expect(redactor.text(Array(once.utf8)) == nil)
    }

    // MARK: Rules

    @Test func usersRules() throws {
        let rules = try ["header:X-Door", "query:pin", "json:iban", "json:/arguments/*/code", "regex:acct-[0-9]+"].map {
            try RedactionRule(parsing: $0)
        }
        var redactor = Redactor(RedactionRules(rules))
        #expect(redactor.fields([HeaderField("X-Door", "open")])[0].value == "td_1")
        #expect(redactor.target("/x?pin=1234&y=2") == "/x?pin=td_2&y=2")
        #expect(redacted(#"{"iban":"DE99"}"#, &redactor) == #"{"iban":"td_3"}"#)
        #expect(
            redacted(#"{"arguments":[{"code":"zz"},{"code":42424}],"code":"zz"}"#, &redactor)
                == #"{"arguments":[{"code":"td_4"},{"code":746400005}],"code":"zz"}"#)
        #expect(redacted("pay acct-99 from acct-1234", &redactor) == "pay td_6 from td_7")
    }

    @Test func keptPlaces() throws {
        let kept = try ["header:authorization", "query:token", "json:password", "cookie:theme"].map {
            try RedactionRule(parsing: $0)
        }
        var redactor = Redactor(RedactionRules(keeping: kept))
        let fields = redactor.fields([
            HeaderField("Authorization", "Bearer abc12345"), HeaderField("Cookie", "theme=dark; s=1"),
        ])
        #expect(fields.map(\.value) == ["Bearer abc12345", "theme=dark; s=td_1"])
        #expect(redactor.target("/?token=abc&sig=x1") == "/?token=abc&sig=td_2")
        #expect(redacted(#"{"password":"p","secret":"q"}"#, &redactor) == #"{"password":"p","secret":"td_3"}"#)
    }

    @Test(arguments: ["", "x", "header:", "cookies:a", "regex:("]) func whatIsNoRule(text: String) {
        #expect(throws: OptionError.self) { try RedactionRule(parsing: text) }
    }

    // MARK: MessagePack

    @Test func messagePack() {
        // {"token":"s3cr3t","n":5} in SignalR's framing: the length before it is computed anew.
        let value: [UInt8] =
            [0x91, 0x82, 0xa5] + Array("token".utf8) + [0xa6] + Array("s3cr3t".utf8) + [0xa1, 0x6e, 5]
        let expected: [UInt8] =
            [0x91, 0x82, 0xa5] + Array("token".utf8) + [0xa4] + Array("td_1".utf8) + [0xa1, 0x6e, 5]
        var redactor = Redactor()
        #expect(
            redactor.payload([UInt8(value.count)] + value, isBinary: true) == [UInt8(expected.count)] + expected)
        #expect(redactor.payload(value, isBinary: true) == expected)
        #expect(redactor.payload([0x91, 0x81, 0xa1, 0x61, 0xcd, 0, 1], isBinary: true) == nil)
    }

    /// A JSON Pointer of a rule counts the items as they stand on the wire.
    @Test func placesOfRulesInMessagePack() throws {
        let rules = RedactionRules([try RedactionRule(parsing: "json:/1/*/n")])
        let item = { (value: [UInt8]) in [0x81, 0xa1, 0x6e] + value }
        // [1, [{"n": "ab"}, {"n": 70000}], {"n": "ab"}]
        let value: [UInt8] =
            [0x93, 1, 0x92] + item([0xa2, 0x61, 0x62]) + item([0xce, 0, 1, 0x11, 0x70]) + item([0xa2, 0x61, 0x62])
        let number: [UInt8] = [0xce, 0x2c, 0x7d, 0x29, 0x02]
        let expected: [UInt8] =
            [0x93, 1, 0x92] + item([0xa4] + Array("td_1".utf8)) + item(number) + item([0xa2, 0x61, 0x62])
        var redactor = Redactor(rules)
        #expect(redactor.payload(value, isBinary: true) == expected)
    }

    /// Letters beyond ASCII make no bytes of a text.
    @Test func formsOfSeveralParts() {
        var redactor = Redactor()
        let form = { (value: String) in
            Array("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(value)\r\n--b--\r\n".utf8)
        }
        #expect(redactor.payload(form("gr\u{fc}n-1234"), isBinary: true) == form("td_1"))
    }

    @Test func otherBytesKeepTheirLength() {
        var redactor = Redactor()
        let bytes: [UInt8] = [0, 1, 2, 0xff] + Array(" Bearer abcdefgh12345678 ".utf8) + [0xfe]
        let expected: [UInt8] = [0, 1, 2, 0xff] + Array(" Bearer td_1____________ ".utf8) + [0xfe]
        #expect(redactor.payload(bytes, isBinary: true) == expected)
    }

    /// Random bytes have names, too.
    @Test func binaryDataHasNoNames() {
        var redactor = Redactor()
        let bytes: [UInt8] = [0, 1, 0xff] + Array("d=1;token=hunter22&\"secret\":\"hunter23\"".utf8) + [0xfe]
        #expect(redactor.payload(bytes, isBinary: true) == nil)
        #expect(redactor.takeChangedBytes() == 0)
        // What is known is found, and counted.
        redactor.learn(Array("hunter22".utf8))
        let expected: [UInt8] = [0, 1, 0xff] + Array("d=1;token=td_1____&\"secret\":\"hunter23\"".utf8) + [0xfe]
        #expect(redactor.payload(bytes, isBinary: true) == expected)
        #expect(redactor.takeChangedBytes() == 1 && redactor.takeChangedBytes() == 0)
    }

    /// A frame of STOMP ends with a zero, and is a text.
    @Test func framesOfSTOMP() {
        var redactor = Redactor()
        let frame = { (passcode: String) in Array("CONNECT\nlogin:ada\npasscode:\(passcode)\n\n\0".utf8) }
        #expect(redactor.payload(frame("hunter22"), isBinary: true) == frame("td_1"))
    }

    /// CONNECT of MQTT 3.1.1 and 5.0, with and without a will; another packet may follow.
    @Test(arguments: [4, 5], [true, false])
    func passwordsOfMQTT(version: UInt8, hasWill: Bool) {
        func text(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + Array(text.utf8) }
        func packet(_ password: String) -> [UInt8] {
            let properties: [UInt8] = version == 5 ? [5, 0x11, 0, 0, 0, 10] : []
            var rest = text("MQTT") + [version, hasWill ? 0xc6 : 0xc2, 0, 60] + properties + text("client-1")
            if hasWill { rest += (version == 5 ? [0] : []) + text("topic") + text("gone") }
            rest += text("ada") + text(password)
            return [0x10, UInt8(rest.count)] + rest + [0xc0, 0]
        }
        var redactor = Redactor()
        #expect(redactor.payload(packet("hunter22"), isBinary: true) == packet("td_1____"))
        let whole = packet("hunter22")
        for count in 0..<whole.count {
            var redactor = Redactor()
            _ = redactor.payload(Array(whole[..<count]), isBinary: true)
        }
    }

    // MARK: Bodies

    @Test func compressedBodies() throws {
        let plain = Array(#"{"token":"s3cr3t"}"#.utf8)
        var compressor = MemberCompressor()
        var packed: [UInt8] = []
        let none = MemberInfo(events: 0, firstTime: .max, firstEvent: 0, opens: 0, firstConnection: 0)
        compressor.append(plain.span, info: none, level: 6, into: &packed)
        var redactor = Redactor()
        let fields = [HeaderField("Content-Type", "application/json"), HeaderField("Content-Encoding", "gzip")]
        #expect(redactor.body(packed, fields) == .decoded(Array(#"{"token":"td_1"}"#.utf8)))
        #expect(redactor.body([1, 2, 3, 0xff], [HeaderField("Content-Encoding", "exi")]) == .unreadable)
        #expect(redactor.withheld == 1)
    }
}
