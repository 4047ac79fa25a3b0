import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// One spelling for all documents that mean the same.
@Suite struct GraphQLDocumentTests {
    @Test(arguments: [
        ("query Q { a }", "query Q{a}"), ("query { a }", "{a}"), ("query @live { a }", "query@live{a}"),
        (
            "query Q($a: Int = 1, $b: [ID!]!) @live { a(x: $a, y: [1, 2]) { b } }",
            "query Q($a:Int=1$b:[ID!]!)@live{a(x:$a y:[1 2]){b}}"
        ),
        ("\u{feff}# hello\n{ a, b ,, c }\r\n", "{a b c}"),
        ("subscription{tick}", "subscription{tick}"),
        (#"{ a(s: "x, y", n: -1.5e+3) }"#, #"{a(s:"x, y" n:-1.5e+3)}"#),
        ("{ a ...F ... on B { b } ... @include(if: $x) { c } }", "{a...F...on B{b}...@include(if:$x){c}}"),
        ("{ __typename a { __typename b } }", "{a{b}}"),
        ("{ kind: __typename a __typename @skip(if: true) }", "{kind:__typename a __typename@skip(if:true)}"),
        ("{ a(where: {kind: __typename}) }", "{a(where:{kind:__typename})}"),
        ("{ ...__typename ... on __typename { a } }", "{...__typename...on __typename{a}}"),
    ])
    func normalises(_ text: String, _ normal: String) {
        #expect(GraphQLTalk.normalised(text) == normal)
        // Its own normal form is the same document.
        #expect(GraphQLTalk.normalised(normal) == normal)
    }

    @Test func orderOfDefinitionsDoesNotMatter() {
        let a = GraphQLTalk.normalised("query Q { ...F ...G } fragment F on T { a } fragment G on T { b }")
        #expect(a == GraphQLTalk.normalised("fragment G on T { b __typename } query Q{...F...G} fragment F on T{a}"))
        #expect(a != GraphQLTalk.normalised("query Q { ...F ...G } fragment F on T { b } fragment G on T { a }"))
    }

    @Test(arguments: [
        (#""hello""#, #""""hello""""#),
        (#""a\nb""#, "\"\"\"\n    a\n    b\n\"\"\""),
        (#""a\n  b""#, "\"\"\"\r\n  \r\n  a\r\n    b\r\n\"\"\""),
        (#""x \"\"\" y""#, #""""x \""" y""""#),
        (#""é 😀""#, #""\u00e9 \ud83d\ude00""#),
        (#""😀""#, #""\u{1F600}""#),
        (#""a/b""#, #""a\/b""#),
    ])
    func stringsOfEqualValueAreEqual(_ one: String, _ other: String) throws {
        let a = try #require(GraphQLTalk.normalised("{ a(s: \(one)) }"))
        #expect(a == GraphQLTalk.normalised("{a(s:\(other))}"))
        #expect(a != GraphQLTalk.normalised(#"{ a(s: "something else") }"#))
    }

    @Test(arguments: [
        "{ a", "{ a }}", "{ a(x: \"y }", "{ a . b }", "query Q", "{ a(x: ] }", "{ ? }", #"{ a(x: "\q") }"#, "",
    ])
    func whatIsNoDocumentIsComparedAsText(_ text: String) {
        var talk = GraphQLTalk()
        let message = talk.subscribe("1", text)
        #expect(text.isEmpty ? message.role == .opaque : message.meaning["payload"]?["query"]?.string == text)
    }

    @Test func deepAndLongDocumentsAreRead() {
        let deep = String(repeating: "{a", count: 20_000) + String(repeating: "}", count: 20_000)
        #expect(GraphQLTalk.normalised(deep) == deep)
        let long = "{" + String(repeating: " field ", count: 50_000) + "}"
        #expect(GraphQLTalk.normalised(long)?.utf8.count == 2 + 50_000 * 6 - 1)
    }
}
