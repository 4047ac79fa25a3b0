import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// The MessagePack hub protocol: ASP.NET Core's own test data and what clients were seen to send.
@Suite struct SignalRPackTests {
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).compactMap(hexDigit)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func talk() -> SignalRTalk {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"protocol":"messagepack","version":1}"#)
        return talk
    }

    /// Frame and its members; the type decides the direction in which it makes sense.
    static let vectors: [(String, String)] = [
        (
            "11 960180a378797aa66d6574686f64912a90",
            #"{"type":1,"invocationId":"xyz","target":"method","arguments":[42]}"#
        ),
        ("0e 960180c0a66d6574686f64912a90", #"{"type":1,"target":"method","arguments":[42]}"#),
        ("10 950180a378797aa66d6574686f64912a", #"{"type":1,"invocationId":"xyz","target":"method","arguments":[42]}"#),
        (
            "22 960181a3466f6fa3426172c0a6546172676574912a91ab5f5f746573745f69645f5f",
            #"{"type":1,"headers":{"Foo":"Bar"},"target":"Target","arguments":[42],"streamIds":["__test_id__"]}"#
        ),
        (
            "29 960180a131a453656e6499a26869c3c0cb3ff8000000000000ffcd012c92010281a16101c402000190",
            #"{"type":1,"invocationId":"1","target":"Send","arguments":["hi",true,null,1.5,-1,300,[1,2],{"a":1},{"$bin":"AAE="}]}"#
        ),
        ("08 940280a378797a2a", #"{"type":2,"invocationId":"xyz","item":42}"#),
        ("08 940280a378797ac0", #"{"type":2,"invocationId":"xyz","item":null}"#),
        ("0c 940280a378797aca42280000", #"{"type":2,"invocationId":"xyz","item":42.0}"#),
        (
            "19 950380a378797a01b04572726f72206e6f7420666f756e6421",
            #"{"type":3,"invocationId":"xyz","error":"Error not found!"}"#
        ),
        ("08 940380a378797a02", #"{"type":3,"invocationId":"xyz"}"#),
        ("09 950380a378797a032a", #"{"type":3,"invocationId":"xyz","result":42}"#),
        ("09 950380a378797a03c0", #"{"type":3,"invocationId":"xyz","result":null}"#),
        (
            "11 960480a378797aa66d6574686f64912a90",
            #"{"type":4,"invocationId":"xyz","target":"method","arguments":[42]}"#
        ),
        ("07 930580a378797a", #"{"type":5,"invocationId":"xyz"}"#), ("02 9106", #"{"type":6}"#),
        ("04 9307c0c2", #"{"type":7,"allowReconnect":false}"#), ("06 9207a378797a", #"{"type":7,"error":"xyz"}"#),
        ("0a 9307a64572726f7221c2", #"{"type":7,"error":"Error!","allowReconnect":false}"#),
        ("04 9307c0c3", #"{"type":7,"allowReconnect":true}"#),
        ("0a 9307a64572726f7221c3", #"{"type":7,"error":"Error!","allowReconnect":true}"#),
        ("03 92082a", #"{"type":8,"sequenceId":42}"#), ("05 9208cd012c", #"{"type":8,"sequenceId":300}"#),
        ("04 9209cc92", #"{"type":9,"sequenceId":146}"#),
        (
            "cf01 940280a131d9c8" + String(repeating: "61", count: 200),
            #"{"type":2,"invocationId":"1","item":"\#(String(repeating: "a", count: 200))"}"#
        ),
        ("0f 960180a131a44563686f91a2686990", #"{"type":1,"invocationId":"1","target":"Echo","arguments":["hi"]}"#),
        // Longer arrays of later versions, nil for what is absent, and aiosignalr's 128 for its headers.
        (
            "12 970180a378797aa66d6574686f64912a9080",
            #"{"type":1,"invocationId":"xyz","target":"method","arguments":[42]}"#
        ),
        ("0e 960180c0a66d6574686f64912ac0", #"{"type":1,"target":"method","arguments":[42]}"#),
        ("0a 9503cc80a378797a02c0", #"{"type":3,"invocationId":"xyz"}"#),
        ("09 950380a378797a02c0", #"{"type":3,"invocationId":"xyz"}"#),
        ("03 920680", #"{"type":6}"#), ("05 9407c0c280", #"{"type":7,"allowReconnect":false}"#),
        ("03 9207c0", #"{"type":7}"#), ("04 93082a80", #"{"type":8,"sequenceId":42}"#),
    ]

    @Test(arguments: vectors.indices)
    func vector(_ index: Int) {
        let (hex, json) = Self.vectors[index]
        for direction in Direction.allCases {
            var talk = Self.talk()
            let bytes = Self.bytes(hex)
            let messages = talk.payload(bytes, direction, .binary)
            #expect(messages.map(\.content.text) == [json])
            #expect(messages.map(\.bytes) == [bytes])
            guard let message = messages.first else { continue }
            // The same message in JSON reads alike.
            var other = SignalRTalk()
            let same = other.say([json], direction)[0]
            #expect(Look(message) == Look(same))
            #expect(message.matchKey == same.matchKey && message.opens == same.opens)

            var out: [UInt8] = []
            #expect(talk.codec.write(message, ids: IDMap(), on: .ws, into: &out) == .binary)
            #expect(out == bytes)
            var ids = IDMap()
            for chain in message.opens + [message.chain].compactMap(\.self) { ids.bind(chain, to: "other-\(chain.id)") }
            out = []
            _ = talk.codec.write(message, ids: ids, on: .lp, into: &out)
            let again = talk.payload(out, direction, .binary)
            #expect(again.map(\.matchKey) == [message.matchKey])
            #expect(again.first?.chain?.id == message.chain.map { "other-\($0.id)" })
            #expect(again.first?.opens.map(\.id) == message.opens.map { "other-\($0.id)" })
        }
    }

    /// Everything but the ids stays: headers, long spellings of numbers, later members.
    @Test func onlyIdsAreRewritten() {
        var talk = Self.talk()
        // Headers, the id, the target, two numbers in long spellings, the streams, and a member of a later version.
        let message = talk.payload(
            Self.bytes("24970181a3466f6fa3426172a137a15392cd002ad1ffff92a131a132cb3fb999999999999a"), .toServer, .binary
        )[0]
        #expect(message.title == "Invocation S(42, -1)")
        var ids = IDMap()
        ids.bind(.client("7"), to: "0")
        ids.bind(.client("2"), to: "a-longer-id-than-any-that-fits-a-fixstr")
        var out: [UInt8] = []
        #expect(talk.codec.write(message, ids: ids, on: .ws, into: &out) == .binary)
        #expect(
            out
                == Self.bytes(
                    "4b" + "970181a3466f6fa3426172" + "a130" + "a153" + "92cd002ad1ffff" + "92a131" + "d927"
                        + hexText("a-longer-id-than-any-that-fits-a-fixstr".utf8) + "cb3fb999999999999a"))
    }

    @Test(arguments: [
        ("0191", "not MessagePack: ends too early at byte 1"),
        ("01c1", "not MessagePack: 0xc1 is no value at byte 0"),
        ("0180", "not an array"),
        ("0190", "the type is not an integer"),
        ("0391a131", "the type is not an integer"),
        ("029100", "unknown message type 0"),
        ("02910a", "unknown message type 10"),
        ("0a91cb4018000000000000", "the type is not an integer"),
        ("03910606", "1 bytes more than the array"),
        ("06940180c0a161", "type 1 with 4 items"),
        ("07950180c0a16101", "arguments is not an array"),
        ("079501802aa16190", "invocationId is not a string"),
        ("06950180c0c090", "target is missing"),
        ("06950180c02a90", "target is not a string"),
        ("08960180c0a161902a", "streamIds is not an array"),
        ("09960180c0a16190912a", "a stream id is not a string"),
        ("07950480c0a16190", "invocationId is missing"),
        ("05930280a131", "type 2 with 3 items"),
        ("05940280c02a", "invocationId is missing"),
        ("05930380a131", "type 3 with 3 items"),
        ("06940380a13104", "unknown kind of completion 4"),
        ("06940380a13103", "the completion has no value"),
        ("06940380a131c0", "unknown kind of completion null"),
        ("07950380a13101c0", "error is not a string"),
        ("03920580", "type 5 with 2 items"),
        ("04930580c0", "invocationId is missing"),
        ("029107", "type 7 with 1 items"),
        ("0392072a", "error is not a string"),
        ("029108", "type 8 with 1 items"),
        ("039208c0", "sequenceId is not an integer"),
        ("039208ff", "sequenceId is negative"),
        ("0b9208cfffffffffffffffff", "sequenceId is not an integer"),
        ("00", "not MessagePack: ends too early at byte 0"),
        ("059106", "5 bytes are announced, 2 are there"),
        ("80", "the length ends too early"),
        ("8080808010", "the length is no number of 31 bits"),
        ("ffffffff0791", "2147483647 bytes are announced, 1 are there"),
        ("ffffffffff", "the length is no number of 31 bits"),
    ])
    func refused(_ hex: String, _ reason: String) {
        for direction in Direction.allCases {
            var talk = Self.talk()
            let bytes = Self.bytes(hex)
            let messages = talk.payload(bytes, direction, .binary)
            #expect(messages.map(\.role) == [.opaque])
            #expect(messages.first?.summary == reason)
            #expect(messages.flatMap(\.bytes) == bytes)
        }
    }

    /// A frame that is no message leaves the ones around it readable.
    @Test func onlyTheBadFrameIsOpaque() {
        var talk = Self.talk()
        let messages = talk.payload(Self.bytes("029106 0191 06940380a13102 00 029106"), .toClient, .binary)
        #expect(messages.map(\.type) == ["Ping", "opaque", "Completion", "opaque", "Ping"])
    }

    @Test func lengthsOfEveryWidth() {
        for count in [1, 100, 120, 127, 128, 129, 300, 5_248, 16_383, 16_384, 70_000, 2_097_151, 2_097_152] {
            var talk = Self.talk()
            var array: [UInt8] = [0x94, 0x02, 0x80, 0xa1, 0x31]
            MessagePack.write(String(repeating: "x", count: count), into: &array)
            let message = talk.payload(Self.framed(array), .toServer, .binary)[0]
            #expect(message.content["item"]?.string?.utf8.count == count)
            var ids = IDMap()
            ids.bind(.client("1"), to: "22")
            var out: [UInt8] = []
            _ = talk.codec.write(message, ids: ids, on: .ws, into: &out)
            array.replaceSubrange(3...4, with: [0xa2, 0x32, 0x32])
            #expect(out == Self.framed(array))
        }
    }

    /// The length in its shortest form, written independently of the codec.
    private static func framed(_ array: [UInt8]) -> [UInt8] {
        var groups: [UInt8] = []
        var rest = array.count
        repeat {
            groups.append(UInt8(rest % 128))
            rest /= 128
        } while rest > 0
        return groups.dropLast().map { $0 | 0x80 } + [groups[groups.count - 1]] + array
    }

    /// The known encodings of lengths (the reference's own list).
    @Test(arguments: [
        (0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (5_248, "8029"), (16_383, "ff7f"), (16_384, "808001"),
    ])
    func lengthPrefixes(_ count: Int, _ hex: String) {
        var talk = Self.talk()
        let payload = Self.bytes(hex) + [UInt8](repeating: 0xc0, count: count)
        #expect(talk.payload(payload, .toServer, .binary).map(\.bytes.count) == [payload.count])
        // One byte less is no frame.
        guard count > 0 else { return }
        #expect(talk.payload(payload.dropLast(), .toServer, .binary)[0].summary.hasSuffix("\(count - 1) are there"))
    }

    @Test func handshakesAreText() {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"protocol":"messagepack","version":1}"#)
        let messages = talk.payload(Self.bytes("7b7d1e 029106"), .toClient, .binary)
        #expect(messages.map(\.type) == ["Handshake", "Ping"])
        var out: [UInt8] = []
        #expect(talk.codec.write(messages[0], ids: IDMap(), on: .ws, into: &out) == .binary)
        #expect(out == Array("{}\u{1e}".utf8))
        #expect(talk.codec.keepalive?.payload == [0x02, 0x91, 0x06] && talk.codec.keepalive?.opcode == .binary)
    }

    /// A stateful reconnect has no handshake.
    @Test func aSequenceTellsTheHubProtocol() {
        var talk = SignalRTalk()
        let messages = talk.payload(Self.bytes("03920906 07950380a131032a"), .toClient, .binary)
        #expect(messages.map(\.type) == ["Sequence", "Completion"])
        #expect(talk.codec.transports == [.ws, .lp])
        let head = RequestHead(method: "GET", target: "/hub?id=a", headers: [HeaderField("Upgrade", "websocket")])
        func claim(_ hex: String) -> Confidence {
            SignalRCodec.claim(StreamOpening(request: head, firstPayload: Self.bytes(hex)))
        }
        #expect(claim("03920906") == .certain && claim("03920906 029106") == .certain)
        #expect(claim("029106") == .no && claim("039209") == .no)
    }

    @Test func refusals() throws {
        var talk = Self.talk()
        let request = talk.payload(Self.bytes("0f960180a131a44563686f91a2686990"), .toServer, .binary)[0]
        let refusal = try #require(talk.codec.refusal(of: request, reason: "no"))
        #expect(refusal.payload == Self.bytes("09950380a13101a26e6f") && refusal.opcode == .binary)
        let send = talk.payload(Self.bytes("0e960180c0a66d6574686f64912a90"), .toServer, .binary)[0]
        #expect(talk.codec.refusal(of: send, reason: "no") == nil)
        let handshake = SignalRTalk().codec
        var other = SignalRTalk()
        let asked = other.toServer(#"{"protocol":"messagepack","version":1}"#)[0]
        let text = try #require(handshake.refusal(of: asked, reason: "no such tape"))
        #expect(
            String(decoding: text.payload, as: UTF8.self)
                == #"{"error":"The protocol 'messagepack' is not supported. no such tape"}"# + "\u{1e}")
        let newer = other.toServer(#"{"protocol":"json","version":9}"#)[0]
        #expect(
            handshake.refusal(of: newer, reason: "x").map { String(decoding: $0.payload, as: UTF8.self) }
                == #"{"error":"The server does not support version 9 of the 'json' protocol. x"}"# + "\u{1e}")
        let json = other.toServer(#"{"protocol":"json","version":1}"#)[0]
        #expect(json.matchKey != newer.matchKey)
        #expect(
            talk.codec.refusal(of: json, reason: "x").map { String(decoding: $0.payload, as: UTF8.self) }
                == #"{"error":"The protocol 'json' is not supported. x"}"# + "\u{1e}")
    }

    @Test(arguments: [
        [
            "07950380a131032a", "08950380a13103cc2a", "0b950380a13103ca42280000", "0a950380a26f6b03d1002a",
            "09950381a0a0a131032a", "08960380a131032ac0",
        ],
        ["06940380a13102", "07950380a13103c0", "07950380a13102c0"],
        [
            "0e960180c0a66d6574686f64912a90", "0d950180c0a66d6574686f64912a", "0e960180c0a66d6574686f64912ac0",
            "12960180c0a66d6574686f6491ce0000002a90",
        ],
        ["049307c0c2", "039207c0"],
    ])
    func equalMeanings(_ spellings: [String]) {
        let keys = spellings.map { hex -> String in
            var talk = Self.talk()
            let messages = talk.payload(Self.bytes(hex), .toClient, .binary)
            #expect(messages.map(\.role) != [.opaque], "\(hex)")
            return messages.map(\.matchKey).joined()
        }
        #expect(Set(keys).count == 1, "\(keys)")
    }

    @Test func differentMeanings() {
        let all = [
            "07950380a131032a", "07950380a131032b", "07950380a13103c3", "08950380a13103a12a", "09950380a13103c4012a",
            "08950380a13101a12a", "06940380a13102", "06940280a1312a", "05930580a131", "08950180a131a16190",
            "0b960180a131a1619091a131", "07950180c0a16190", "09950180a131a1619100", "08950180a131a16290",
            "08950480a131a16190", "049307c0c3", "049307a0c2",
        ]
        let keys = all.map { hex -> String in
            var talk = Self.talk()
            let messages = talk.payload(Self.bytes(hex), .toClient, .binary)
            #expect(messages.map(\.role) != [.opaque] && messages.count == 1, "\(hex) \(messages.first?.summary ?? "")")
            return messages.map(\.matchKey).joined()
        }
        #expect(Set(keys).count == all.count)
    }

    /// Damaged frames: every byte is accounted for, nothing traps, and what is read can be written with other ids.
    @Test func damage() {
        var random = SplitMix64(seed: 11)
        let seeds = Self.vectors.map { Self.bytes($0.0) }.filter { $0.count < 80 }
        var readable = 0
        for _ in 0..<8_000 {
            var bytes = seeds[random.below(seeds.count)] + seeds[random.below(seeds.count)]
            for _ in 0...random.below(3) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            var talk = Self.talk()
            let messages = talk.payload(bytes, random.below(2) == 0 ? .toServer : .toClient, .binary)
            #expect(messages.flatMap(\.bytes) == bytes)
            for message in messages where message.role != .opaque {
                readable += 1
                var ids = IDMap()
                for chain in message.opens + [message.chain].compactMap(\.self) { ids.bind(chain, to: "x\(chain.id)") }
                var out: [UInt8] = []
                _ = talk.codec.write(message, ids: ids, on: .ws, into: &out)
                var second = Self.talk()
                #expect(
                    second.payload(out, message.direction, .binary).first?.content["type"] == message.content["type"])
            }
        }
        #expect(readable > 2_000)
    }

    /// The longest legal message is read; a bomb of small values is not.
    @Test func manyValues() {
        var talk = Self.talk()
        let array: [UInt8] =
            [0x94, 0x02, 0x80, 0xa1, 0x31, 0xdd, 0x00, 0x20, 0x00, 0x00] + [UInt8](repeating: 0, count: 1 << 21)
        #expect(talk.payload(Self.framed(array), .toClient, .binary)[0].summary.contains("more than 1048576 values"))
    }
}
