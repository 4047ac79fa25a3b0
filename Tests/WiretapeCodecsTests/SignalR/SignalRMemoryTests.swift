import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// A memory that expectations can feed.
private final class Remembered {
    private var memory: any SessionMemory

    init?(_ memory: (any SessionMemory)?) {
        guard let memory else { return nil }
        self.memory = memory
    }

    var violation: String? { memory.violation }
    var acknowledgeAt: WireInstant? { memory.acknowledgeAt }

    func sending(_ messages: [Message], _ payload: [UInt8], _ opcode: Opcode) {
        memory.sending(messages, payload, opcode)
    }
    func receiving(_ message: Message, at now: WireInstant) -> Bool { memory.receiving(message, at: now) }
    func lost(_ message: Message) { memory.lost(message) }
    func reopened(at now: WireInstant) -> [(payload: [UInt8], opcode: Opcode)] { memory.reopened(at: now) }
    func acknowledgement() -> (payload: [UInt8], opcode: Opcode)? { memory.acknowledgement() }
}

/// Stateful reconnect, held against what ASP.NET Core 10 did.
@Suite struct SignalRMemoryTests {
    private static func talk(_ hubProtocol: String, version: Int = 2) -> SignalRTalk {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"protocol":"\#(hubProtocol)","version":\#(version)}"#)
        return talk
    }

    @Test func onlyVersionTwoRemembers() {
        for hubProtocol in ["json", "messagepack"] {
            #expect(Self.talk(hubProtocol, version: 1).codec.memory == nil)
            #expect(Self.talk(hubProtocol, version: 2).codec.memory != nil)
        }
        #expect(SignalRTalk().codec.memory == nil)
    }

    /// The memory plays the server's part of a capture with two cuts: what it would send first on each new connection, and
    /// each of its acknowledgements, is what the real server sent.
    @Test func asTheRealServerDid() throws {
        var codec = SignalRCodec(StreamOpening(request: RequestHead(method: "GET", target: "/hub")))
        var memory: Remembered?
        var connection: UInt32 = 0
        var reopenings = 0
        var acknowledgements = 0
        for event in try FixtureTape("signalr/aspnet10-js-ws-stateful-reconnect").events {
            guard case .message(let direction, let opcode, let bytes, _, _) = event.kind else { continue }
            var messages: [Message] = []
            codec.decode(bytes.span, opcode, direction, into: &messages)
            if memory == nil { memory = Remembered(codec.memory) }
            let now = WireInstant(nanoseconds: event.time)
            if event.connection != connection, connection != 0 {
                let first = memory?.reopened(at: now) ?? []
                #expect(first.map(\.payload) == [bytes] && first.map(\.opcode) == [.text])
                reopenings += 1
                connection = event.connection
                continue
            }
            connection = event.connection
            if direction == .toServer {
                for message in messages {
                    // The client sends again what the server has had: the codec knows, and so does the memory.
                    let isNew = message.role != .ack || message.type == "Ack" || message.type == "Sequence"
                    #expect(memory?.receiving(message, at: now) == isNew)
                }
            } else if messages.contains(where: { $0.type == "Ack" }) {
                #expect(memory?.acknowledgeAt != nil)
                #expect(memory?.acknowledgement()?.payload == bytes)
                #expect(memory?.acknowledgeAt == nil)
                acknowledgements += 1
            } else {
                memory?.sending(messages, bytes, opcode)
            }
        }
        #expect(reopenings == 2 && acknowledgements > 6)
        #expect(memory?.violation == nil)
    }

    private func sequence(_ number: Int, _ hubProtocol: String) -> Message {
        var talk = Self.talk(hubProtocol)
        guard hubProtocol != "json" else { return talk.toServer(#"{"type":9,"sequenceId":\#(number)}"#)[0] }
        let long = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        return talk.payload([0x0b, 0x92, 0x09, 0xcf] + long, .toServer, .binary)[0]
    }

    @Test func inMessagePack() throws {
        var talk = Self.talk("messagepack")
        let memory = try #require(Remembered(talk.codec.memory))
        let payload = SignalRPackTests.bytes("07950380a131032a 029106 0c960180c0a45469636b910390")
        memory.sending(talk.payload(payload, .toClient, .binary), payload, .binary)
        let first = memory.reopened(at: WireInstant(nanoseconds: 0))
        // The ping is not counted and not sent again.
        #expect(
            first.map(\.payload) == [SignalRPackTests.bytes("03920901 07950380a131032a 0c960180c0a45469636b910390")])
        #expect(first.map(\.opcode) == [.binary])
        let call = talk.payload(SignalRPackTests.bytes("0f960180a131a44563686f91a2686990"), .toServer, .binary)[0]
        #expect(!memory.receiving(call, at: WireInstant(nanoseconds: 1)))
        #expect(memory.receiving(sequence(1, "messagepack"), at: WireInstant(nanoseconds: 1)))
        #expect(memory.receiving(call, at: WireInstant(nanoseconds: 1)))
        #expect(memory.acknowledgeAt == WireInstant(nanoseconds: 1_000_000_001))
        #expect(memory.acknowledgement()?.payload == [0x03, 0x92, 0x08, 0x01])
        let ack = talk.payload([0x03, 0x92, 0x08, 0x01], .toServer, .binary)[0]
        #expect(memory.receiving(ack, at: WireInstant(nanoseconds: 2)))
        #expect(
            memory.reopened(at: WireInstant(nanoseconds: 3)).map(\.payload)
                == [SignalRPackTests.bytes("03920902 0c960180c0a45469636b910390")])
    }

    @Test func countsAndDuplicates() throws {
        var talk = Self.talk("json")
        let memory = try #require(Remembered(talk.codec.memory))
        let now = WireInstant(nanoseconds: 5)
        #expect(memory.acknowledgeAt == nil && memory.acknowledgement() == nil)
        let messages = talk.toServer(
            #"{"type":6}"#, #"{"type":1,"invocationId":"1","target":"A","arguments":[],"streamIds":["2"]}"#,
            #"{"type":2,"invocationId":"2","item":1}"#, #"{"type":3,"invocationId":"2"}"#,
            #"{"type":4,"invocationId":"3","target":"B","arguments":[]}"#, #"{"type":5,"invocationId":"3"}"#)
        for message in messages { #expect(memory.receiving(message, at: now)) }
        #expect(memory.acknowledgement()?.payload == Array("{\"type\":8,\"sequenceId\":5}\u{1e}".utf8))
        #expect(memory.acknowledgement() == nil)
        // Nothing was sent: the next number is 1.
        #expect(memory.reopened(at: now).map(\.payload) == [Array("{\"type\":9,\"sequenceId\":1}\u{1e}".utf8)])
        #expect(!memory.receiving(messages[1], at: now) && !memory.receiving(messages[0], at: now))
        // The client has had an acknowledgement of 3 only: it sends 4 and 5 again, then a new one.
        #expect(memory.receiving(sequence(4, "json"), at: now))
        #expect(!memory.receiving(messages[4], at: now) && !memory.receiving(messages[5], at: now))
        #expect(memory.acknowledgeAt == nil)
        #expect(memory.receiving(messages[1], at: now))
        #expect(memory.acknowledgement()?.payload == Array("{\"type\":8,\"sequenceId\":6}\u{1e}".utf8))
        #expect(memory.violation == nil)
    }

    @Test func aSequenceBeyondTheCountIsAViolation() throws {
        let memory = try #require(Remembered(Self.talk("json").codec.memory))
        _ = memory.reopened(at: WireInstant(nanoseconds: 0))
        #expect(!memory.receiving(sequence(2, "json"), at: WireInstant(nanoseconds: 0)))
        #expect(memory.violation == "Sequence 2 is greater than the 0 messages received")
        #expect(!memory.receiving(sequence(1, "json"), at: WireInstant(nanoseconds: 0)))
    }

    /// Numbers begin at 1, and what clients say of them can be any number.
    @Test(arguments: ["json", "messagepack"]) func anyNumberIsTaken(_ hubProtocol: String) throws {
        for first in [0, 1] {
            for then in [0, 1, 5, Int.max] {
                let memory = try #require(Remembered(Self.talk(hubProtocol).codec.memory))
                let now = WireInstant(nanoseconds: 0)
                #expect(memory.receiving(sequence(first, hubProtocol), at: now))
                #expect(memory.receiving(sequence(then, hubProtocol), at: now) == (then < 2))
                #expect(
                    memory.violation
                        == (then < 2 ? nil : "Sequence \(then) is greater than the 0 messages received"))
                memory.lost(sequence(then, hubProtocol))
                #expect(memory.acknowledgement() == nil)
            }
        }
    }

    /// A client that never acknowledges costs bounded memory; resuming then begins behind what was forgotten.
    @Test func unacknowledgedBytesAreBounded() throws {
        var talk = Self.talk("json")
        let memory = try #require(Remembered(talk.codec.memory))
        let text = String(repeating: "x", count: 1 << 20)
        let payload = Array("{\"type\":1,\"target\":\"A\",\"arguments\":[\"\(text)\"]}\u{1e}".utf8)
        let messages = talk.payload(payload, .toClient)
        for _ in 0..<20 { memory.sending(messages, payload, .text) }
        let first = memory.reopened(at: WireInstant(nanoseconds: 0))
        #expect(first.reduce(0) { $0 + $1.payload.count } < 17 << 20)
        #expect(first[0].payload.starts(with: "{\"type\":9,\"sequenceId\":6}\u{1e}".utf8))
        // In payloads of whole messages, not in one.
        #expect(first.count == 16)
    }

    /// Messages of one payload are counted one by one, also when only some of them are acknowledged.
    @Test func partlyAcknowledgedPayloads() throws {
        var talk = Self.talk("json")
        let memory = try #require(Remembered(talk.codec.memory))
        let records = (1...3).map { "{\"type\":1,\"target\":\"A\",\"arguments\":[\($0)]}\u{1e}" }
        let payload = Array(records.joined().utf8)
        memory.sending(talk.payload(payload, .toClient), payload, .text)
        _ = memory.receiving(talk.toServer(#"{"type":8,"sequenceId":2}"#)[0], at: WireInstant(nanoseconds: 0))
        #expect(
            memory.reopened(at: WireInstant(nanoseconds: 0)).map(\.payload)
                == [Array(("{\"type\":9,\"sequenceId\":3}\u{1e}" + records[2]).utf8)])
    }

    /// A message that a fault took away is not counted: the client sends it again, and then it is new.
    @Test func lostMessagesAreNotCounted() throws {
        var talk = Self.talk("json")
        let memory = try #require(Remembered(talk.codec.memory))
        let now = WireInstant(nanoseconds: 0)
        let messages = talk.toServer(
            #"{"type":1,"target":"A","arguments":[1]}"#, #"{"type":1,"target":"A","arguments":[2]}"#, #"{"type":6}"#)
        #expect(memory.receiving(messages[0], at: now))
        memory.lost(messages[0])
        #expect(memory.acknowledgeAt == nil)
        memory.lost(messages[0])
        #expect(memory.receiving(messages[0], at: now) && memory.receiving(messages[1], at: now))
        memory.lost(messages[1])
        memory.lost(messages[2])
        #expect(memory.acknowledgeAt != nil)
        #expect(memory.acknowledgement()?.payload == Array("{\"type\":8,\"sequenceId\":1}\u{1e}".utf8))
        _ = memory.reopened(at: now)
        #expect(memory.receiving(sequence(2, "json"), at: now) && memory.receiving(messages[1], at: now))
    }
}
