import Testing
import WiretapeCodecs
import WiretapeCore

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
}
