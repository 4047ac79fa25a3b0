import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// The handshake in its generations, padding, heartbeats, acknowledgements, JSONP.
@Suite struct AtmosphereHandshakeTests {
    private static let id = Atmosphere.id
    private static let padding = String(repeating: " ", count: 2_048) + "\n"

    /// As the reference has them: body, whether lengths are asked for, the second field.
    static let bodies: [(body: String, lengths: Bool, heartbeat: String?)] = [
        ("41|\(id)|0|X|", true, "0"), ("44|\(id)|5000|X|", true, "5000"), ("\(id)|0|X|", false, "0"),
        ("\(id)|5000|X|", false, "5000"), ("\(id)|1795197360903", false, nil), ("50|\(id)|1795197365648", false, nil),
        ("36|\(id)", true, nil), (id, false, nil),
    ]

    @Test(arguments: bodies, ["websocket", "sse", "long-polling", "streaming"])
    func handshake(_ one: (body: String, lengths: Bool, heartbeat: String?), _ transport: String) {
        var codec = Atmosphere.codec(transport, lengths: one.lengths)
        let messages = codec.read(one.body)
        // Nothing tells that a lone id on a stream is whole.
        guard !(transport == "streaming" && one.body == Self.id) else { return }
        #expect(messages.map(\.role) == [.handshake] && messages[0].content["trackingId"]?.string == Self.id)
        #expect(messages[0].content["heartbeat"]?.text == one.heartbeat && codec.sessionID == Self.id)
        #expect(messages[0].bytes == Array(one.body.utf8))
        // The peer writes lengths unasked, or does not.
        let hasLengths = one.body.prefix { $0.isNumber }.count < 3 && one.body.contains("|\(Self.id)")
        #expect(codec.read(hasLengths ? "2|hi" : "hi").texts == ["hi"])
    }

    @Test func paddingAndDataAroundIt() {
        var poll = Atmosphere.codec("long-polling")
        let messages = poll.read(Self.padding + "41|\(Self.id)|0|X|2|hi")
        #expect(messages.map(\.type) == ["Padding", "Handshake", "Message"])
        #expect(messages[0].bytes.count == 2_049 && messages[0].role == .keepalive)
        var stream = Atmosphere.codec("streaming", lengths: false)
        #expect(stream.read(String(repeating: " ", count: 1_000)).map(\.type) == ["Padding"])
        #expect(stream.read(String(repeating: " ", count: 7_192) + "\n").map(\.type) == ["Padding"])
        #expect(stream.read(String(Self.id.prefix(20))).isEmpty)
        #expect(stream.read(String(Self.id.dropFirst(20)) + "|0").isEmpty)
        #expect(stream.read("|X|hello").map(\.type) == ["Handshake", "Message"])
        #expect(stream.read(" a message").texts == [" a message"])
    }

    @Test func whatIsNoHandshakeIsAMessage() {
        var codec = Atmosphere.codec("long-polling", lengths: false)
        #expect(codec.read("hello | world").texts == ["hello | world"])
        var asked = Atmosphere.codec("websocket")
        #expect(asked.read("5|hello").texts == ["hello"])
        // Without the protocol's parameter, and with an id, there is none.
        var known = Atmosphere.codec("websocket", id: Self.id)
        #expect(known.read("41|\(Self.id)|0|X|").map(\.role) == [.push])
    }

    @Test func heartbeats() {
        var tracked = Atmosphere.greeted("websocket")
        #expect(tracked.read("1|X").map(\.role) == [.keepalive])
        #expect(tracked.read(Self.padding + Self.padding).map(\.type) == ["Padding"])
        var bare = Atmosphere.greeted("streaming", lengths: false)
        #expect(bare.read("X").map(\.role) == [.keepalive])
        // A client's is one only where the server wants them.
        #expect(tracked.read("X", .toServer).map(\.role) == [.send])
        var wanted = Atmosphere.greeted("websocket", interval: 5_000)
        #expect(wanted.read("X", .toServer).map(\.role) == [.keepalive])
        #expect(wanted.read("...ACK...", .toServer).map(\.role) == [.ack])
        #expect(tracked.keepalive?.payload == Array("1|X".utf8) && tracked.keepalive?.every == 60_000_000_000)
    }

    @Test func messagesToOtherPaths() {
        var codec = Atmosphere.greeted("websocket")
        let other = codec.read("@@/other@@hi", .toServer)
        #expect(other[0].label == "/other" && other.texts == ["hi"])
        #expect(codec.read("@@hi", .toServer)[0].label == nil)
    }

    @Test func jsonp() throws {
        var codec = Atmosphere.codec("jsonp")
        let handshake = codec.read(#"jQuery123_456({"message" : "41|\#(Self.id)|0|X|"});"#)
        #expect(handshake.map(\.role) == [.handshake])
        let messages = codec.read(#"jQuery123_457({"message" : "12|{\"q\":\"it\'s\"}"});"#)
        #expect(messages.texts == [#"{"q":"it's"}"#])
        let poll = Atmosphere.request("jsonp", id: Self.id, "&jsonpTransport=atmosphere17")
        let place = CarrierPlace(id: Self.id)
        let answer = codec.answer(.poll(messages[0].bytes, .text), to: poll, in: place)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"atmosphere17({"message" : "12|{\"q\":\"it\'s\"}"});"#)
        #expect(codec.answer(.pollBegun, to: poll, in: place).body.isEmpty)
        #expect(codec.read(answer.body).texts == messages.texts)
        for damaged in ["f(", #"f({"message" : "a\"#, #"f({"message" : "\u12"});"#, #"f({"message" : "a"}); "#] {
            #expect(codec.read(damaged).allSatisfy { $0.bytes == Array(damaged.utf8) })
        }
    }
}
