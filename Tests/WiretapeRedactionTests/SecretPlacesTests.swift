import Testing
import WiretapeBytes
import WiretapeRedaction
import WiretapeWire

/// Places where secrets stand: names by their endings, the spellings of names, lists and objects, and subprotocols.
@Suite struct SecretPlacesTests {
    private func redacted(_ text: String) -> String {
        var redactor = Redactor()
        return redactor.text(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    @Test(arguments: [
        "dbPassword", "DB_PASSWORD", "webhook-secret", "x.door.token", "csrfmiddlewaretoken", "openai-insecure-api-key",
        "request_signature", "passcode", "code_verifier", "X-Atmosphere-Auth", "X-Atmosphere-Auth-Refresh",
        "signingKey",
        "stripeSecretKey", "X-Authorization", "PHPSESSID", "password_confirmation", "client_assertion", "session_id",
    ])
    func namesThatEndAsThoseOfSecretsDo(_ name: String) {
        #expect(redacted(#"{"\#(name)":"hunter22"}"#) == #"{"\#(name)":"td_1"}"#)
        #expect(redacted("/x?a=1&\(name)=hunter22&b=2") == "/x?a=1&\(name)=td_1&b=2")
        var redactor = Redactor()
        #expect(redactor.fields([HeaderField(name, "hunter22")])[0].value == "td_1")
    }

    /// Names that only look like those of secrets.
    @Test(arguments: [
        "nextPageToken", "continuation_token", "tokenType", "token_endpoint", "secretSanta", "passwordHint",
        "max_tokens",
        "connectionToken", "X-SignalR-Connection-Token", "X-GraphQL-Event-Stream-Token", "authenticated", "keyboard",
        "signatureAlgorithm", "code",
    ])
    func namesOfOtherThings(_ name: String) {
        let text = #"{"\#(name)":"hunter22"}"#
        #expect(redacted(text) == text)
        #expect(redacted("/x?\(name)=hunter22") == "/x?\(name)=hunter22")
    }

    @Test(arguments: [
        ("user[password]=hunter22&b=1", "user[password]=td_1&b=1"), ("password[]=hunter22", "password[]=td_1"),
        ("user%5Bpassword%5D=hunter22", "user%5Bpassword%5D=td_1"), ("p%61ssword=hunter22", "p%61ssword=td_1"),
        ("api%5Fkey=hunter22", "api%5Fkey=td_1"), ("user[name]=hunter22", "user[name]=hunter22"),
        ("a[password][0]=x", "a[password][0]=x"),
    ])
    func spellingsOfItemNames(_ form: String, _ expected: String) { #expect(redacted(form) == expected) }

    /// In a query a value may contain `,`, `'` and `)`. In prose these end it.
    @Test(arguments: [
        ("/x?password=ab'cd(ef)gh,ij&b=1", "/x?password=td_1&b=1"), ("token=hunter22,x1&b", "token=td_1&b"),
        (
            "see /x?token=hunter22, or (token=hunter22) or '/y?token=hunter22'.",
            "see /x?token=td_1, or (token=td_1) or '/y?token=td_1'."
        ),
        ("/x;jsessionid=hunter22?a", "/x;jsessionid=td_1?a"),
        ("Endpoint=https://x;AccessKey=abc/def456+ghi=;Version=1.0;", "Endpoint=https://x;AccessKey=td_1;Version=1.0;"),
    ])
    func endsOfItems(_ text: String, _ expected: String) { #expect(redacted(text) == expected) }

    @Test func theConnectionInitAfterALineBreak() {
        #expect(redacted("\r\n{\"type\":\"connection_init\",\"payload\":{\"x\":\"hunter22\"}}").contains("td_1"))
    }

    /// The `code` of OAuth (RFC 6749) is redacted, and so is one that looks random. An error code is not.
    @Test(arguments: [
        ("grant_type=authorization_code&code=SplxlOBe&x=1", "grant_type=authorization_code&code=td_1&x=1"),
        ("/callback?code=SplxlOBe&state=xyz", "/callback?code=td_1&state=xyz"),
        (
            #"{"grant_type":"authorization_code","code":"SplxlOBe"}"#,
            #"{"grant_type":"authorization_code","code":"td_1"}"#
        ),
        ("/x?code=Hj3Kd9Wp2Ls8Qx5Vz", "/x?code=td_1"), ("/error?code=E4711", "/error?code=E4711"),
        (#"{"code":"E4711"}"#, #"{"code":"E4711"}"#),
        (#"{"code":"UNAUTHENTICATED","x":"this.state=open"}"#, #"{"code":"UNAUTHENTICATED","x":"this.state=open"}"#),
    ])
    func codesOfOAuth(_ text: String, _ expected: String) { #expect(redacted(text) == expected) }

    @Test func namesOfPartsWithoutQuotes() {
        let part = { (name: String, value: String) in
            "--b\r\nContent-Disposition: form-data; name=\(name)\r\n\r\n\(value)\r\n--b--"
        }
        #expect(redacted(part("password", "hunter22")) == part("password", "td_1"))
        #expect(redacted(part("\"user[password]\"", "hunter22")) == part("\"user[password]\"", "td_1"))
        #expect(redacted(part("note", "hunter22")) == part("note", "hunter22"))
    }

    @Test func aCookieWithoutAName() {
        var redactor = Redactor()
        let fields = [
            HeaderField("Cookie", "abcdef12; theme=dark"), HeaderField("Set-Cookie", "abcdef12; Path=/"),
            HeaderField("Set-Cookie", "a=x1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, sid=hunter22; Secure"),
        ]
        #expect(
            redactor.fields(fields).map(\.value) == [
                "td_1; theme=td_2", "td_1; Path=/",
                "a=td_3; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, sid=td_4; Secure",
            ])
    }

    /// Lines of a head within a text, and literals of GraphQL.
    @Test(arguments: [
        ("CONNECT\nlogin:ada\npasscode:hunter22\n\n\0", "CONNECT\nlogin:ada\npasscode:td_1\n\n\0"),
        ("GET / HTTP/1.1\r\nX-Api-Key: abc12345\r\n\r\n", "GET / HTTP/1.1\r\nX-Api-Key: td_1\r\n\r\n"),
        ("Authorization: Bearer abc\nx: y", "Authorization: Bearer td_1\nx: y"),
        ("Cookie: a=abc; b=def\n", "Cookie: a=td_1; b=td_2\n"),
        (
            #"{"query":"mutation { login(user: \"ada\", password: \"hunter22\") { id } }"}"#,
            #"{"query":"mutation { login(user: \"ada\", password: \"td_1\") { id } }"}"#
        ),
        ("token: see below\n", "token: see below\n"), ("auth://callback?x=1", "auth://callback?x=1"),
        ("secret: true\n", "secret: true\n"), ("the password: hunter22", "the password: hunter22"),
    ])
    func labelledValues(_ text: String, _ expected: String) { #expect(redacted(text) == expected) }

    @Test(arguments: [
        (
            #"{"credentials":{"user":"ada","pins":["12345678",987654,true]}}"#,
            #"{"credentials":{"user":"td_1","pins":["td_2",746400003,true]}}"#
        ),
        (
            #"{"tokens":["x"],"password":["a1b2c3d4",["e5f6"]],"after":"x"}"#,
            #"{"tokens":["x"],"password":["td_1",["td_2"]],"after":"x"}"#
        ),
        // A JSON Schema only describes a secret.
        (
            #"{"properties":{"password":{"type":"string","title":"Your password"}}}"#,
            #"{"properties":{"password":{"type":"string","title":"Your password"}}}"#
        ),
        (#"{"token":{"$ref":"x"}}"#, #"{"token":{"$ref":"x"}}"#),
    ])
    func listsAndObjects(_ text: String, _ expected: String) {
        #expect(redacted(text) == expected)
        theSameInTwoPieces(text, expected)
    }

    /// Values of a secret that only describe it are none. Terraform's output has the value beside the type.
    @Test(arguments: [
        (
            #"{"token":{"id":13345,"text":" world","logprob":-0.12}}"#,
            #"{"token":{"id":13345,"text":" world","logprob":-0.12}}"#
        ),
        (
            #"{"db_password":{"sensitive":true,"type":"string","value":"hunter22"}}"#,
            #"{"db_password":{"sensitive":true,"type":"td_1","value":"td_2"}}"#
        ),
    ])
    func objectsThatDescribe(_ text: String, _ expected: String) { #expect(redacted(text) == expected) }

    /// Common words and short numbers in an object of secrets stay elsewhere, and names of members stay everywhere.
    @Test func commonWordsAreNotLearned() {
        var redactor = Redactor()
        func next(_ text: String) -> String {
            redactor.text(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
        }
        _ = next(#"{"auth":{"type":"password","region":"eu-west-1","exp":1700000000},"token":1234567}"#)
        let text = #"{"password":"hunter22","type":"password","at":"eu-west-1","id":1700000000,"x":"91234567"}"#
        #expect(next(text) == text.replacing("hunter22", with: "td_5"))
        #expect(next(#"{"id":1234567}"#) == #"{"id":746400004}"#)
        // A signature of digits alone is no number.
        let zeros = String(repeating: "0", count: 64)
        #expect(next("{\"sig\":\"\(zeros)\"}") == "{\"sig\":\"\(next(zeros))\"}" && next(zeros).hasPrefix("74645f"))
    }

    /// A page has an attribute `name`, too.
    @Test func attributesOfPagesAreNoForms() {
        let page =
            "<form>\r\n<input name=\"__RequestVerificationToken\" type=\"hidden\">\r\n\r\n<p>hello</p>\r\n</form>\r\n"
        #expect(redacted(page) == page)
    }

    /// A list of secrets in a stream that is too long to wait for: nothing that follows is shown.
    @Test func aLongListInAStreamIsLeftOut() {
        var redactor = Redactor()
        var stream = RedactedStream(isBinary: false)
        var out = redactor.piece(Array(#"{"a":1,"credentials":["#.utf8), of: &stream)
        for n in 0..<40 {
            out += redactor.piece(Array(String(repeating: "\"hunter22-\(n)\",", count: 800).utf8), of: &stream)
        }
        out += redactor.last(Array(#""hunter23"]}"#.utf8), of: &stream)
        let text = String(decoding: out, as: UTF8.self)
        #expect(text.hasPrefix(#"{"a":1,"#) && !text.contains("hunter2"), "\(text.prefix(200))")
        #expect(redactor.withheld > 0)
    }

    @Test func listsAndMapsOfMessagePack() throws {
        // {"secret": {"a": "hunter22", "b": [bin "hunter22", ext "hunter22"]}, "c": "x"}
        let word = Array("hunter22".utf8)
        var bytes: [UInt8] = [0x82, 0xa6] + Array("secret".utf8) + [0x82, 0xa1, 0x61, 0xa8] + word
        bytes += [0xa1, 0x62, 0x92, 0xc4, 8] + word + [0xc7, 8, 5] + word + [0xa1, 0x63, 0xa1, 0x78]
        var redactor = Redactor()
        guard case .changed(let new) = redactor.pack(bytes) else {
            Issue.record("nothing was redacted")
            return
        }
        #expect(!String(decoding: new, as: UTF8.self).contains("hunter22"))
        #expect(String(decoding: new, as: UTF8.self).contains("td_1____"))
    }

    /// A text that comes in two pieces, cut anywhere.
    @Test(arguments: [
        ("see ?db_password=hunter22 and go", "see ?db_password=td_1 and go"),
        ("user[api_key]=hunter22&x=1", "user[api_key]=td_1&x=1"),
        ("api%5Fkey=hunter22&p%61ssword=hunter23&x", "api%5Fkey=td_1&p%61ssword=td_2&x"),
        ("see v1.sk-proj-Zk3vQ5w7X2b4N6m8P1r3T5y7U9iZk3vQ5w7X2b4N6m8P1r3T now", "see v1.td_1 now"),
        ("?password=ab'cdhunter22x&y=1", "?password=td_1&y=1"),
        (#"{"p\u0061ssword" : "hunter22"}"#, #"{"p\u0061ssword" : "td_1"}"#),
        ("{ login(password: \"hunter22\") }", "{ login(password: \"td_1\") }"),
        (
            "--b\r\nContent-Disposition: form-data; name=password\r\n\r\nhunter22\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=password\r\n\r\ntd_1\r\n--b--"
        ),
        ("X-Door-Token: hunter22\r\n", "X-Door-Token: td_1\r\n"),
        (#"{"q":"{ login(password: \"hunter22\") }"}"#, #"{"q":"{ login(password: \"td_1\") }"}"#),
    ])
    func theSameInTwoPieces(_ text: String, _ expected: String) {
        let bytes = Array(text.utf8)
        for split in 1..<bytes.count {
            var redactor = Redactor()
            var stream = RedactedStream(isBinary: false)
            let out =
                redactor.piece(Array(bytes[..<split]), of: &stream) + redactor.last(Array(bytes[split...]), of: &stream)
            #expect(String(decoding: out, as: UTF8.self) == expected, "\(split)")
        }
    }

    @Test(arguments: [
        ("realtime, openai-insecure-api-key.ek_68b1f0c2", "realtime, openai-insecure-api-key.td_1"),
        ("access_token.abc.def, v1", "access_token.td_1, v1"), ("access_token, abcdef12", "access_token, td_1"),
        ("base64url.bearer.authorization.k8s.io.YWJjZGVm, x", "base64url.bearer.authorization.k8s.io.td_1, x"),
        ("v1.sk-proj-Zk3vQ5w7X2b4N6m8P1r3T5y7U9iZk3vQ5w7X2b4N6m8P1r3T", "v1.td_1"),
        ("graphql-transport-ws, graphql-ws", "graphql-transport-ws, graphql-ws"),
    ])
    func subprotocols(_ value: String, _ expected: String) {
        var redactor = Redactor()
        #expect(redactor.fields([HeaderField("Sec-WebSocket-Protocol", value)])[0].value == expected)
        let answer = ResponseHead(status: 101, headers: [HeaderField("Sec-WebSocket-Protocol", value)])
        #expect(redactor.head(answer).headers[0].value == expected)
        // A pseudonym is no secret.
        var again = Redactor(keepsFindings: true)
        #expect(again.fields([HeaderField("Sec-WebSocket-Protocol", expected)])[0].value == expected)
        #expect(again.takeFindings().isEmpty)
    }

    /// JSON in base64 is as random as a key.
    @Test func whatRedactionPackedIsNoFinding() {
        let packed = Secrets.base64URL(
            Array(#"{"host":"abc.appsync-api.eu-west-1.amazonaws.com","x-api-key":"da2-abc12345"}"#.utf8))
        var redactor = Redactor()
        let new = redactor.fields([HeaderField("Sec-WebSocket-Protocol", "header-\(packed)")])
        var again = Redactor(keepsFindings: true)
        #expect(again.fields(new) == new)
        #expect(again.takeFindings().isEmpty)
    }

    @Test func stringsWithinStrings() {
        var text = #"{"password":"hunter22"}"#
        for _ in 0..<Redactor.deepest - 1 { text = #"{"body":"# + JSONValue.string(text).text + "}" }
        #expect(!redacted(text).contains("hunter22"))
    }
}
