import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

@Suite struct SignalRWriteTests {
    private func written(_ record: String, _ direction: Direction, _ binds: [(Chain, String)]) -> String {
        var talk = SignalRTalk()
        let message = talk.say([record], direction)[0]
        var ids = IDMap()
        for (chain, id) in binds { ids.bind(chain, to: id) }
        var out: [UInt8] = []
        #expect(talk.codec.write(message, ids: ids, on: .ws, into: &out) == .text)
        return String(decoding: out, as: UTF8.self)
    }

    @Test func onlyIdsAreRewritten() {
        let record = "{ \"result\" : [1.0, 1E2, \"\\u00e9 \\\"invocationId\\\"\"], \"invocationId\":\"7\" , \"type\":3}"
        #expect(
            written(record, .toClient, [(.client("7"), "a\"b"), (.server("7"), "no")])
                == record.replacing("\"7\"", with: "\"a\\\"b\"") + "\u{1e}")
    }

    @Test func nestedIdsStay() {
        let record = #"{"type":1,"invocationId":"s1","target":"Ask","arguments":[{"invocationId":"s1"}]}"#
        #expect(
            written(record, .toClient, [(.server("s1"), "s9")])
                == #"{"type":1,"invocationId":"s9","target":"Ask","arguments":[{"invocationId":"s1"}]}"# + "\u{1e}")
    }

    @Test func streamIds() {
        let record = #"{"type":1,"streamIds":["1", "2"],"invocationId":"3","target":"Sum","arguments":[]}"#
        #expect(
            written(record, .toServer, [(.client("1"), "10"), (.client("3"), "30")])
                == #"{"type":1,"streamIds":["10","2"],"invocationId":"30","target":"Sum","arguments":[]}"# + "\u{1e}")
    }

    @Test func withoutBindingsNothingChanges() {
        let record = #"{"type" :3, "invocationId":"7","result":1.00}"#
        #expect(written(record, .toClient, []) == record + "\u{1e}")
        #expect(written(#"{"type":6}"#, .toClient, [(.client("7"), "8")]) == "{\"type\":6}\u{1e}")
        #expect(written("not json", .toClient, []) == "not json\u{1e}")
    }

    /// Hand-written tapes contain JSON in MessagePack sessions too.
    @Test func jsonOfAMessagePackSessionIsPacked() throws {
        var talk = SignalRTalk()
        _ = talk.toServer(#"{"protocol":"messagepack","version":1}"#)
        let call = #"{"type":1,"invocationId":"7","target":"A","arguments":["x",{"$bin":"AAE="}]}"#
        let message = try #require(talk.toServer(call).first)
        var ids = IDMap()
        ids.bind(.client("7"), to: "8")
        for (map, id) in [(IDMap(), "7"), (ids, "8")] {
            var out: [UInt8] = []
            #expect(talk.codec.write(message, ids: map, on: .ws, into: &out) == .binary)
            var again = SignalRTalk()
            let read = again.payload(out, .toServer, .binary)
            #expect(read.map(\.content.text) == [call.replacing(#""7""#, with: "\"\(id)\"")])
            #expect(out.first != UInt8(ascii: "{"))
        }
        let added = try #require(talk.codec.encoded(try JSONValue(parsing: #"{"type":6}"#)))
        #expect(added.payload == [0x02, 0x91, 0x06] && added.opcode == .binary)
        #expect(SignalRTalk().codec.encoded(try JSONValue(parsing: #"{"type":6}"#)) == nil)
    }

    @Test func refusals() {
        var talk = SignalRTalk()
        func refusal(_ record: String) -> String? {
            let message = talk.toServer(record)[0]
            return talk.codec.refusal(of: message, reason: "no \"x\"").map {
                String(decoding: $0.payload, as: UTF8.self)
            }
        }
        #expect(
            refusal(#"{"type":1,"invocationId":"5","target":"A","arguments":[]}"#)
                == #"{"type":3,"invocationId":"5","error":"no \"x\""}"# + "\u{1e}")
        #expect(refusal(#"{"protocol":"json","version":1}"#) == #"{"error":"no \"x\""}"# + "\u{1e}")
        #expect(refusal(#"{"type":1,"target":"A","arguments":[]}"#) == nil)
        #expect(refusal(#"{"type":6}"#) == nil)
    }

    @Test func keepalive() throws {
        let keepalive = try #require(SignalRTalk().codec.keepalive)
        #expect(keepalive.payload == Array("{\"type\":6}\u{1e}".utf8))
        #expect(keepalive.every == 15_000_000_000)
        #expect(keepalive.opcode == .text)
    }

    @Test(arguments: [
        "g3Xq0c2lJdYx8o1mVb5f5A", "_RcFzAJuiwYzJgb1uK6dsw", "0123456789abcdef", "a9_=",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "ZZZZ",
    ])
    func variedIdsKeepTheirShape(_ id: String) {
        #expect(SignalRCodec.vary(id, 0) == id)
        var seen: Set<String> = [id]
        for n in 1...100 {
            let varied = SignalRCodec.vary(id, n)
            #expect(seen.insert(varied).inserted)
            #expect(varied.utf8.count == id.utf8.count)
            #expect(!varied.contains("_="))
            for (old, new) in zip(id, varied) {
                #expect(old.isNumber == new.isNumber && old.isUppercase == new.isUppercase)
            }
        }
        _ = SignalRCodec.vary(id, .max)
        #expect(SignalRCodec.vary("--", 3) == "--")
    }

    /// Ids as servers make them, with the patterns by which clients and proxies know them: ASP.NET Core's 16 bytes in
    /// base64url, aiosignalr's and other servers' UUIDs and hexadecimal digits, tokens with a suffix of a gateway.
    @Test(arguments: [
        ("ShhQsk0s-vHgb-pwsyYJmw", #"[A-Za-z0-9_-]{22}"#), ("______________________", #"[A-Za-z0-9_-]{22}"#),
        ("3f2504e0-4f89-41d3-9a0c-0305e82c3301", #"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"#),
        ("3F2504E0-4F89-41D3-9A0C-0305E82C3301", #"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"#),
        ("9f86d081884c7d659a2feaa0c55ad015", #"[0-9a-f]{32}"#), ("1234567890", #"[0-9]{10}"#),
        ("dGVzdA==:u1_=tail", #"[A-Za-z0-9_=:-]+"#),
    ])
    func variedIdsFitTheClientsPatterns(_ id: String, _ pattern: String) throws {
        let regex = try Regex(pattern)
        for n in 1...300 {
            let varied = SignalRCodec.vary(id, n)
            #expect(varied.wholeMatch(of: regex) != nil && varied.utf8.count == id.utf8.count)
            // dotnet's client for Swift cuts poll URLs at the first `_=`.
            #expect(!"/hub?id=\(varied)&_=1".prefix { $0 != "&" }.contains("_="))
            #expect((varied != id) == id.contains { $0.isLetter || $0.isNumber })
        }
    }
}
