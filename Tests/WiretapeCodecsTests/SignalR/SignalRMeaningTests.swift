import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct SignalRMeaningTests {
    private func key(_ record: String, _ direction: Direction = .toServer, after: String? = nil) -> String {
        var talk = SignalRTalk()
        if let after { _ = talk.say([after], direction) }
        return talk.say([record], direction)[0].matchKey
    }

    @Test(arguments: [
        (
            #"{"type":1,"invocationId":"1","target":"Send","arguments":[{"a":1,"b":2}]}"#,
            #"{ "arguments" : [{"b":2.0,"a":1e0}], "target":"Send", "invocationId":"xyz", "type":1, "streamIds":[] }"#
        ),
        (
            #"{"type":1,"target":"Send","arguments":["é"]}"#,
            #"{"type":1,"headers":{"traceparent":"00-1"},"target":"Send","arguments":["\u00E9"],"streamIds":null}"#
        ),
        (#"{"type":3,"invocationId":"s1"}"#, #"{"type":3,"invocationId":"s2","result":null}"#),
        (
            #"{"type":3,"invocationId":"s1","error":"No handler"}"#,
            #"{"type":3,"invocationId":"s1","error":"No handler","result":null}"#
        ),
        (#"{"type":7}"#, #"{"type":7,"error":null,"allowReconnect":false}"#),
        (#"{"type":5,"invocationId":"1"}"#, #"{"invocationId":"2","type":5}"#),
        (#"{"type":2,"invocationId":"1","item":42}"#, #"{"type":2,"invocationId":"2","item":42.0}"#),
    ])
    func equal(_ a: String, _ b: String) { #expect(key(a) == key(b)) }

    @Test(arguments: [
        (
            #"{"type":1,"invocationId":"1","target":"Send","arguments":["a"]}"#,
            #"{"type":1,"invocationId":"1","target":"Send","arguments":["b"]}"#
        ),
        (
            #"{"type":1,"invocationId":"1","target":"Send","arguments":["a"]}"#,
            #"{"type":1,"target":"Send","arguments":["a"]}"#
        ),
        (
            #"{"type":1,"invocationId":"1","target":"Send","arguments":[]}"#,
            #"{"type":4,"invocationId":"1","target":"Send","arguments":[]}"#
        ),
        (
            #"{"type":1,"target":"Sum","arguments":[],"streamIds":["1"]}"#,
            #"{"type":1,"target":"Sum","arguments":[],"streamIds":["1","2"]}"#
        ),
        (#"{"type":1,"target":"Sum","arguments":[]}"#, #"{"type":1,"target":"sum","arguments":[]}"#),
        (#"{"type":1,"target":"Sum","arguments":[1]}"#, #"{"type":1,"target":"Sum","arguments":["1"]}"#),
        (#"{"type":3,"invocationId":"s1","result":0}"#, #"{"type":3,"invocationId":"s1"}"#),
        (#"{"type":3,"invocationId":"s1","error":""}"#, #"{"type":3,"invocationId":"s1"}"#),
        (#"{"type":2,"invocationId":"1","item":null}"#, #"{"type":2,"invocationId":"1","item":[]}"#),
    ])
    func different(_ a: String, _ b: String) { #expect(key(a) != key(b)) }

    @Test func uploadEndAndClientResultAreDifferent() {
        let end = #"{"type":3,"invocationId":"1"}"#
        let upload = key(end, after: #"{"type":1,"target":"Sum","arguments":[],"streamIds":["1"]}"#)
        #expect(upload != key(end))
    }

    @Test func summariesFitALine() {
        var talk = SignalRTalk()
        let long = String(repeating: "x", count: 500)
        let message = talk.toClient(#"{"type":1,"target":"A\n\u001b[2J\u009b","arguments":["\#(long)"]}"#)[0]
        #expect(message.summary.hasPrefix(#"A\u{a}\u{1b}[2J\u{9b}("xxx"#))
        #expect(message.summary.hasSuffix("…"))
        #expect(message.summary.count < 150)
        #expect(message.label == "A\n\u{1b}[2J\u{9b}")
    }

    @Test func titlesNameTheTypeOnce() {
        var talk = SignalRTalk()
        #expect(talk.toClient(#"{"type":1,"target":"T","arguments":[]}"#)[0].title == "Invocation T()")
        #expect(talk.toClient(#"{"type":3,"invocationId":"7","result":42}"#)[0].title == "Completion 7 -> 42")
    }
}
