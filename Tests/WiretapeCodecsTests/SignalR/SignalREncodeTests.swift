import Foundation
import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// Messages written from their content, for `wiretape edit`.
@Suite struct SignalREncodeTests {
    private static let opening = StreamOpening(request: RequestHead(method: "GET", target: "/hub"))

    private static func codec() -> SignalRCodec {
        var codec = SignalRCodec(opening)
        var ignored: [Message] = []
        codec.decode(
            Array("{\"protocol\":\"messagepack\",\"version\":1}\u{1e}".utf8).span, .text, .toServer, into: &ignored)
        return codec
    }

    /// Every message of real sessions, written from its content and read again, says the same.
    @Test(arguments: ["messagepack", "messagepack-lp", "stateful-messagepack"])
    func whatIsWrittenReadsAsItWas(_ name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        var tape = try TapeReader(path: root.appending(path: "recordings/\(name).tape.gz").path)
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        var written = 0
        for one in messages where one.message.role != .handshake {
            let bytes = try #require(SignalRCodec.encode(one.message.content, like: one.message))
            var codec = Self.codec()
            var again: [Message] = []
            codec.decode(bytes.span, .binary, one.message.direction, into: &again)
            #expect(again.map(\.content.canonicalText) == [one.message.content.canonicalText])
            written += 1
        }
        #expect(written > 30)
    }

    /// Values of every kind, tags included, go through both ways.
    @Test(arguments: [
        "null", "true", "0", "127", "128", "255", "256", "65535", "65536", "4294967295", "4294967296",
        "18446744073709551615",
        "-1", "-32", "-33", "-128", "-129", "-32768", "-32769", "-2147483648", "-2147483649", "-9223372036854775808",
        "1.5",
        "-0.25", "1e+300", #""""#, #""é""#, #"[1,[2,{"a":null}],[]]"#, #"{"b":1,"a":{"c":[true]}}"#,
        #"{"$bin":"AAEC"}"#,
        #"{"$ext":[5,"AA=="]}"#, #"{"$ext":[-7,"AAECAw=="]}"#, #"{"$time":"2026-11-21T12:00:00Z"}"#,
        #"{"$time":"2026-11-21T12:00:00.25Z"}"#, #"{"$time":"1969-12-31T23:59:59.000000001Z"}"#,
        #"{"$time":"0001-01-01T00:00:00Z"}"#, #"{"$time":"9999-12-31T23:59:59.999999999Z"}"#,
        #"{"$time":"2000-02-29T01:02:03Z"}"#,
        #"{"$float":"NaN"}"#, #"{"$float":"-Infinity"}"#, #"{"$text":"ff00"}"#, #"{"$map":[[1,"a"],[2,"b"]]}"#,
        #"{"$$bin":1}"#, #"{"$other":1}"#,
    ])
    func valuesGoBothWays(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        var bytes: [UInt8] = []
        #expect(MessagePack.write(value, into: &bytes))
        var at = 0
        #expect(try MessagePack.value(bytes.span, &at) == value)
        #expect(at == bytes.count)
    }

    @Test func longOnesHaveLongHeads() throws {
        for count in [31, 32, 255, 256, 65_535, 65_536] {
            for value: JSONValue in [
                .string(String(repeating: "x", count: count)), .array(Array(repeating: .null, count: count)),
                .object((0..<count).map { .init("k\($0)", .null) }),
                .object([.init("$bin", .string(Data(count: count).base64EncodedString()))]),
                .object([.init("$ext", .array([.number(1), .string(Data(count: count).base64EncodedString())]))]),
            ] {
                var bytes: [UInt8] = []
                #expect(MessagePack.write(value, into: &bytes))
                var at = 0
                #expect(try MessagePack.value(bytes.span, &at) == value)
            }
        }
    }

    @Test(arguments: [
        #"{"$bin":1}"#, #"{"$bin":"*"}"#, #"{"$ext":[300,"AA=="]}"#, #"{"$time":"soon"}"#,
        #"{"$time":"2026-13-01T00:00:00Z"}"#,
        #"{"$time":"2026-11-21T12:00:00.Z"}"#, #"{"$float":"1"}"#, #"{"$text":"f"}"#, #"{"$map":[[1]]}"#,
    ])
    func tagsThatAreNoneAreRefused(_ text: String) throws {
        var bytes: [UInt8] = []
        #expect(try !MessagePack.write(JSONValue(parsing: text), into: &bytes))
    }

    @Test(arguments: [#"{"target":"A"}"#, #"{"type":1}"#, #"{"type":99}"#, #"{"type":3,"invocationId":"1","error":5}"#])
    func whatIsNoMessageIsRefused(_ text: String) throws {
        let like = Message(
            direction: .toClient, role: .push, type: "Invocation", summary: "", bytes: [0x02, 0x91, 0x06],
            opcode: .binary)
        #expect(SignalRCodec.encode(try JSONValue(parsing: text), like: like) == nil)
        #expect(SignalRCodec.encode(try JSONValue(parsing: #"{"type":6}"#), like: like) == [0x02, 0x91, 0x06])
    }
}
