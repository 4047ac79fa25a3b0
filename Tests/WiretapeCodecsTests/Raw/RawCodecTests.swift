import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct RawCodecTests {
    private func message(_ bytes: [UInt8], _ opcode: Opcode = .text, _ direction: Direction = .toServer) -> Message {
        var codec = RawCodec(StreamOpening(request: RequestHead(method: "GET", target: "/")))
        var out: [Message] = []
        codec.decode(bytes.span, opcode, direction, into: &out)
        return out[0]
    }

    private func message(_ text: String) -> Message { message(Array(text.utf8)) }

    @Test func rolesAndSummaries() {
        let hello = message("hello\nworld")
        #expect(hello.role == .send && hello.type == "text" && hello.summary == #"hello\u{a}world"#)
        let bytes = message([0, 255, 1], .binary, .toClient)
        #expect(bytes.role == .push && bytes.type == "binary" && bytes.summary == "3 bytes 00ff01")
        #expect(message([UInt8](repeating: 0xff, count: 1000), .binary).summary.hasSuffix("ff…"))
        #expect(message([]).summary.isEmpty && message([]).title == "text")
    }

    @Test func jsonIsComparedAsJSON() {
        #expect(message(#"{"a":1,"b":[2.0]}"#).matchKey == message(#" {"b":[2],"a":1e0}"#).matchKey)
        #expect(message(#"{"a":1,"b":[2.0]}"#).matchHash == message(#" {"b":[2],"a":1e0}"#).matchHash)
        #expect(message(#"{"a":1}"#).matchKey != message(#"{"a":2}"#).matchKey)
        #expect(message(#"{"a":1}"#).matchHash != message(#"{"a":2}"#).matchHash)
        #expect(message(#"{"a":{"b":7}}"#).content.value(at: "/a/b") == .number(7))
    }

    @Test func otherBytesAreComparedExactly() {
        #expect(message("a ").matchKey != message("a").matchKey)
        #expect(message("1.0").matchKey != message("1").matchKey)
        #expect(message([0xff], .binary).matchKey != message([0xfe], .binary).matchKey)
        #expect(message([0xff, 0xfe], .binary).matchKey != message([0xff, 0xff], .binary).matchKey)
        #expect(message(#"{"a":1}"#).matchKey != message(Array(#"{"a":1}"#.utf8), .binary).matchKey)
    }
}
