import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Messages with their length before them, over every transport and in every split.
@Suite struct AtmosphereFramingTests {
    static let vectors: [(wire: String, messages: [String])] = [
        ("10|héllo € 😀", ["héllo € 😀"]),
        ("3|one3|two5|three", ["one", "two", "three"]),
        ("8|pipe|5|x", ["pipe|5|x"]),
        ("7|burst-17|burst-2", ["burst-1", "burst-2"]),
        ("40000|\(String(repeating: "ä", count: 20_000) + String(repeating: "b", count: 20_000))", ["40000"]),
    ]

    /// A message of a WebSocket, an event, the body of a poll: what a payload is there.
    static let whole = ["websocket", "sse", "long-polling"]

    @Test(arguments: whole)
    func payloadsOfWholeMessages(_ transport: String) {
        for (wire, messages) in Self.vectors {
            var codec = Atmosphere.greeted(transport)
            let texts = codec.read(wire).texts
            #expect(texts == messages || texts.map { "\($0.utf16.count)" } == messages, "\(transport)")
        }
    }

    /// Chunks of a streaming response mean nothing: a cut may be anywhere, in a number and in a character.
    @Test func aStreamIsCutAtEveryByte() {
        for (wire, messages) in Self.vectors where wire.utf8.count < 100 {
            let bytes = Array(wire.utf8)
            for cut in 0...bytes.count {
                for second in cut...bytes.count {
                    var codec = Atmosphere.greeted("streaming")
                    let pieces = [bytes[..<cut], bytes[cut..<second], bytes[second...]].map(Array.init)
                    #expect(pieces.flatMap { codec.read($0) }.texts == messages)
                }
            }
        }
    }

    @Test func aLongMessageComesInChunks() {
        var codec = Atmosphere.greeted("streaming")
        let long = String(repeating: "ä€😀x", count: 8_000)
        let bytes = Array("40000|\(long)3|end".utf8)
        var messages: [Message] = []
        for start in stride(from: 0, to: bytes.count, by: 8_193) {
            messages += codec.read(Array(bytes[start..<min(start + 8_193, bytes.count)]))
        }
        #expect(messages.texts == [long, "end"] && long.utf16.count == 40_000)
    }

    /// Each chunk is looked at once, however many there are.
    @Test func aMessageInManyChunks() {
        var codec = Atmosphere.greeted("streaming")
        let bytes = Array("400000|\(String(repeating: "x", count: 400_000))".utf8)
        var messages: [Message] = []
        for start in stride(from: 0, to: bytes.count, by: 16) {
            messages += codec.read(Array(bytes[start..<min(start + 16, bytes.count)]))
        }
        #expect(messages.count == 1 && messages.texts.first?.utf8.count == 400_000)
    }

    /// All transports give the same messages for the same conversation.
    @Test func transportsAgree() {
        let messages = ["héllo € 😀", "a|b", "7|x", #"{"a":[1,2]}"#, String(repeating: "z", count: 40_000)]
        let framed = messages.map { "\($0.utf16.count)|\($0)" }
        var keys: Set<[String]> = []
        for transport in ["websocket", "sse", "long-polling", "streaming"] {
            var apart = Atmosphere.greeted(transport)
            keys.insert(framed.flatMap { apart.read($0) }.map(\.matchKey))
            guard transport != "websocket", transport != "sse" else { continue }
            var together = Atmosphere.greeted(transport)
            keys.insert(together.read(framed.joined()).map(\.matchKey))
        }
        #expect(keys.count == 1)
    }

    @Test func aNumberThatIsTooLargeWaits() {
        var stream = Atmosphere.greeted("streaming")
        #expect(stream.read("9|abc").isEmpty)
        #expect(stream.read("3|defg").texts == ["abc3|defg"])
        var poll = Atmosphere.greeted("long-polling")
        let short = poll.read("9|abc")
        #expect(short.map(\.role) == [.opaque] && short[0].summary == "announces 9 characters, 3 are there")
        #expect(poll.read("3|abc").texts == ["abc"])
    }

    @Test func hostileNumbers() {
        for text in ["99999999999999999999|x", "4294967295|x", "-1|x", "|", "1|", "0|0|0|", "1|😀"] {
            for transport in Self.whole + ["streaming"] {
                var codec = Atmosphere.greeted(transport)
                _ = codec.read(text)
                _ = codec.read([0xf0, 0x9f])
                _ = codec.read([UInt8](repeating: 0xff, count: 3))
            }
        }
        var stream = Atmosphere.greeted("streaming")
        #expect(stream.read("1|😀2|ok").map(\.role) == [.opaque, .push])
    }

    /// The length of an event is counted before its line ends are changed.
    @Test func eventsWithLineEndsAreShorterThanTheySay() {
        var codec = Atmosphere.greeted("sse")
        let messages = codec.read("4|a\nb")
        #expect(messages.texts == ["a\nb"])
        var out: [UInt8] = []
        _ = codec.write(messages[0], ids: IDMap(), on: .sse, into: &out)
        #expect(String(decoding: out, as: UTF8.self) == "4|a\nb")
        let socket = codec.serving(StreamOpening(request: Atmosphere.request("websocket")))
        out = []
        _ = socket.write(messages[0], ids: IDMap(), on: .ws, into: &out)
        #expect(String(decoding: out, as: UTF8.self) == "3|a\nb")
    }

    /// Without a charset servers write ISO 8859-1 and leave the length out: the bytes stay as they are.
    @Test func bytesOfAnotherCharset() {
        var codec = Atmosphere.greeted("long-polling")
        let latin: [UInt8] = [0xe9, 0x3f]
        let messages = codec.read(latin, .toClient, .binary)
        #expect(messages.count == 1 && messages[0].bytes == latin && messages[0].role == .push)
        #expect(messages[0].content["hex"]?.string == "e93f")
        var out: [UInt8] = []
        let opcode = codec.write(messages[0], ids: IDMap(), on: .lp, into: &out)
        #expect(out == latin && opcode == .binary)
        let socket = codec.serving(StreamOpening(request: Atmosphere.request("websocket")))
        out = []
        #expect(socket.write(messages[0], ids: IDMap(), on: .ws, into: &out) == .text)
        #expect(String(decoding: out, as: UTF8.self) == "2|é?")
    }

    @Test func withoutLengthsABodyIsOneMessage() {
        var codec = Atmosphere.greeted("long-polling", lengths: false)
        #expect(codec.read("away-1away-2").texts == ["away-1away-2"])
        let padded = codec.read(String(repeating: " ", count: 2_048) + "\n{\"hello\":1}")
        #expect(padded.map(\.type) == ["Padding", "Message"] && padded.texts == [#"{"hello":1}"#])
        #expect(codec.joinsPayloads == false)
    }
}
