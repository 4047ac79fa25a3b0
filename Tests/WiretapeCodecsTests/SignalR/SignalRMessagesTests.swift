import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct SignalRMessagesTests {
    @Test func handshake() {
        var talk = SignalRTalk()
        let chain = Chain.client("handshake")
        #expect(
            talk.toServer(#"{"protocol":"json","version":1}"#).map(Look.init)
                == [Look(.handshake, "Handshake", nil, chain, "Handshake json 1")])
        #expect(
            talk.toClient("{}", #"{"type":6}"#).map(Look.init) == [
                Look(.handshake, "Handshake", nil, chain, "Handshake accepted"),
                Look(.keepalive, "Ping", summary: "Ping"),
            ])
        #expect(
            talk.toClient(#"{"error":"The protocol 'x' is not supported."}"#).map(Look.init) == [
                Look(
                    .handshake, "Handshake", nil, chain, #"Handshake error "The protocol 'x' is not supported.""#)
            ])
    }

    @Test func handshakeMeansItsProtocolInAnyOrder() {
        var talk = SignalRTalk()
        let official = talk.toServer(#"{"protocol":"json","version":1}"#)[0]
        let moozzyk = talk.toServer(#"{"version": 2, "protocol": "json"}"#)[0]
        let other = talk.toServer(#"{"protocol":"messagepack","version":1}"#)[0]
        #expect(official.matchKey == moozzyk.matchKey)
        #expect(official.matchKey != other.matchKey)
    }

    @Test func invocationsOfTheClient() {
        var talk = SignalRTalk()
        #expect(
            talk.toServer(
                #"{"type":1,"invocationId":"123","target":"Send","arguments":[42,"Test Message"]}"#,
                #"{"type":1,"headers":{"Foo":"Bar"},"target":"Send","arguments":[],"streamIds":["1"]}"#,
                #"{"type":4,"invocationId":"7","target":"Counter","arguments":[10,500]}"#
            ).map(Look.init) == [
                Look(.request, "Invocation", "Send", .client("123"), #"Send(42, "Test Message")"#),
                Look(.send, "Invocation", "Send", nil, "Send()"),
                Look(.request, "StreamInvocation", "Counter", .client("7"), "Counter(10, 500)"),
            ])
        #expect(
            talk.toClient(
                #"{"type":2,"invocationId":"7","item":42}"#, #"{"type":3,"invocationId":"7"}"#,
                #"{"type":3,"invocationId":"123","result":{"a":[1]}}"#,
                #"{"type":3,"invocationId":"9","error":"It failed"}"#
            ).map(Look.init) == [
                Look(.push, "StreamItem", "Counter", .client("7"), "StreamItem 7 -> 42"),
                Look(.reply, "Completion", "Counter", .client("7"), "Completion 7"),
                Look(.reply, "Completion", "Send", .client("123"), #"Completion 123 -> {"a":[1]}"#),
                Look(.reply, "Completion", nil, .client("9"), #"Completion 9 error "It failed""#),
            ])
        #expect(
            talk.toServer(#"{"type":5,"invocationId":"7"}"#).map(Look.init)
                == [Look(.cancel, "CancelInvocation", nil, .client("7"), "CancelInvocation 7")])
    }

    @Test func uploads() {
        var talk = SignalRTalk()
        let opening = talk.toServer(
            #"{"type":1,"invocationId":"3","target":"Sum","arguments":[],"streamIds":["1","2"]}"#)[0]
        #expect(opening.opens == [.client("1"), .client("2")])
        #expect(
            talk.toServer(
                #"{"type":2,"invocationId":"1","item":5}"#, #"{"type":3,"invocationId":"1","result":null}"#,
                #"{"type":3,"invocationId":"2","error":"boom"}"#
            ).map(Look.init) == [
                Look(.part, "StreamItem", "Sum", .client("1"), "StreamItem 1 -> 5"),
                Look(.part, "Completion", "Sum", .client("1"), "Completion 1"),
                Look(.part, "Completion", "Sum", .client("2"), #"Completion 2 error "boom""#),
            ])
    }

    @Test func serverAsksAndClientAnswers() {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"type":4,"invocationId":"s1","target":"Mine","arguments":[]}"#)
        #expect(
            talk.toClient(
                #"{"type":1,"target":"ReceiveMessage","arguments":["ada","hi"]}"#,
                #"{"type":1,"invocationId":"s1","target":"Ask","arguments":["?"]}"#
            ).map(Look.init) == [
                Look(.push, "Invocation", "ReceiveMessage", nil, #"ReceiveMessage("ada", "hi")"#),
                Look(.request, "Invocation", "Ask", .server("s1"), #"Ask("?")"#),
            ])
        #expect(
            talk.toServer(#"{"type":3,"invocationId":"s1","result":"!"}"#).map(Look.init)
                == [Look(.reply, "Completion", "Ask", .server("s1"), #"Completion s1 -> "!""#)])
        // The client's own "s1" is another chain, still open.
        #expect(talk.toClient(#"{"type":3,"invocationId":"s1"}"#)[0].label == "Mine")
    }

    @Test func farewellAndAcknowledgements() {
        var talk = SignalRTalk()
        for direction in Direction.allCases {
            let messages = talk.say(
                [
                    #"{"type":6}"#, #"{"type":7}"#,
                    #"{"type":7,"error":"Connection closed with an error.","allowReconnect":true}"#,
                    #"{"type":8,"sequenceId":1394}"#, #"{"type":9,"sequenceId":1234}"#,
                ], direction)
            #expect(
                messages.map(Look.init) == [
                    Look(.keepalive, "Ping", summary: "Ping"), Look(.close, "Close", summary: "Close"),
                    Look(.close, "Close", summary: #"Close error "Connection closed with an error." allowReconnect"#),
                    Look(.ack, "Ack", summary: "Ack 1394"), Look(.ack, "Sequence", summary: "Sequence 1234"),
                ])
            #expect(messages.allSatisfy { $0.direction == direction })
        }
    }

    @Test func statefulReconnectSendsAgain() {
        var talk = SignalRTalk()
        let push = #"{"type":1,"target":"Tick","arguments":[1]}"#
        #expect(talk.toClient(push, push).map(\.role) == [.push, .push])
        #expect(talk.toClient(#"{"type":9,"sequenceId":2}"#, push, push).map(\.role) == [.ack, .ack, .push])
        // A new hub connection counts from 1.
        _ = talk.toServer(#"{"protocol":"json","version":1}"#)
        #expect(talk.toClient(push).map(\.role) == [.push])
    }

    @Test(arguments: [
        #"{"type":1,"target":"A"}"#, #"{"type":1,"target":"A","arguments":["\u001e"]}"#,
        #"{"type":1.0e0,"target":"A","arguments":[1e400]}"#, #"{"type":3,"invocationId":"1","error":null}"#,
    ])
    func lenient(_ record: String) {
        var talk = SignalRTalk()
        #expect(talk.toClient(record)[0].role != .opaque)
    }

    @Test(arguments: [
        (#"{"type":1,"arguments":[]}"#, "target is missing"), (#"{"type":10}"#, "unknown message type 10"),
        (#"{"type":1,"target":"A","arguments":{}}"#, "arguments is not an array"),
        (#"{"type":1,"invocationId":5,"target":"A"}"#, "invocationId is not a string"),
        (#"{"type":4,"target":"A","arguments":[]}"#, "invocationId is missing"),
        (#"{"type":1,"target":"A","streamIds":[1]}"#, "a stream id is not a string"),
        (#"{"type":"1"}"#, "type is not an integer"), (#"{"type":9,"sequenceId":-1}"#, "sequenceId is negative"),
        (#"{"type":99999999999999999999}"#, "type is not an integer"), ("[1]", "not a JSON object"),
        ("", "not JSON: ends too early at byte 0"), ("{", "not JSON: expected a name at byte 1"),
        ("{}", "protocol is missing"),
    ])
    func unreadableRecordsAreOpaqueAlone(_ record: String, _ reason: String) {
        var talk = SignalRTalk()
        let messages = talk.toServer(#"{"type":6}"#, record, #"{"type":6}"#)
        #expect(messages.map(\.role) == [.keepalive, .opaque, .keepalive])
        #expect(messages[1].summary == reason)
        #expect(messages[1].bytes == Array((record + "\u{1e}").utf8))
    }

    @Test func whatDoesNotEndInTheSeparatorIsOpaque() {
        var talk = SignalRTalk()
        let messages = talk.payload(Array("{\"type\":6}\u{1e}{\"type\":7}".utf8), .toClient)
        #expect(messages.map(\.role) == [.keepalive, .opaque])
        #expect(messages[1].summary == "not ended by the record separator (0x1e)")
        #expect(talk.payload([], .toClient).map(\.summary) == ["empty payload"])
    }

    @Test func binaryFramesHoldJSONToo() {
        var talk = SignalRTalk()
        let ping: [UInt8] = [0x7b, 0x22, 0x74, 0x79, 0x70, 0x65, 0x22, 0x3a, 0x36, 0x7d, 0x1e]
        let message = talk.payload(ping, .toServer, .binary)[0]
        #expect(message.role == .keepalive && message.opcode == .binary)
    }

    @Test func messagePackIsRecognisedByItsHandshake() {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"protocol":"messagepack","version":1}"#)
        let answer = talk.payload([0x7b, 0x7d, 0x1e, 0x02, 0x91, 0x06], .toClient, .binary)
        #expect(answer.map(\.role) == [.handshake, .keepalive])
        #expect(talk.codec.obstacle == nil)
        // A message of 123 bytes begins with the code of `{`.
        let long = [0x7b, 0x94, 0x02, 0x80, 0xa1, 0x31, 0xd9, 0x74] + [UInt8](repeating: 0x1e, count: 116)
        #expect(talk.payload(long, .toClient, .binary).map(\.type) == ["StreamItem"])
    }

    @Test func openChainsAreBounded() {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"type":1,"invocationId":"a","target":"First","arguments":[]}"#)
        for batch in 0..<4 {
            let ids = (0..<10_000).map { "\"\(batch).\($0)\"" }.joined(separator: ",")
            _ = talk.toServer(#"{"type":1,"target":"Sum","arguments":[],"streamIds":[\#(ids)]}"#)
        }
        #expect(talk.toServer(#"{"type":3,"invocationId":"3.9999"}"#)[0].label == "Sum")
        #expect(talk.toClient(#"{"type":3,"invocationId":"a"}"#)[0].label == nil)
    }
}
