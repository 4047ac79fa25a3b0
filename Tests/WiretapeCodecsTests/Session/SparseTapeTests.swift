import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Tapes written by hand.
@Suite struct SparseTapeTests {
    private static let header = #"{"tape":1,"protocol":"signalr","route":"/chat"}"#

    @Test func theCodecSuppliesTheHandshake() throws {
        let reading = try Reading(
            tape: """
                \(Self.header)
                # ada says hello
                {"d":">","json":{"type":1,"invocationId":"1","target":"Send","arguments":["hi"]}}
                {"d":"<","after":"1s","json":{"type":3,"invocationId":"1","result":null}}

                {"d":"<","after":"20ms","text":"{\\"type\\":1,\\"target\\":\\"Bye\\",\\"arguments\\":[]}\\u001e"}
                """)
        #expect(reading.sessions.count == 1)
        let session = reading.sessions[0]
        #expect(session.route == "/chat" && session.codec.id == "signalr" && session.transport == .ws)
        #expect(
            session.lines == [
                "> Handshake json 1", "< Handshake accepted", #"> Send("hi")"#, "< Completion 1", "< Bye()",
            ])
        #expect(session.entries.map(\.event) == [0, 0, 1, 2, 3])
        #expect(session.entries.map(\.line) == [1, 1, 3, 4, 6])
        #expect(session.entries.map { $0.time / 1_000_000 } == [0, 0, 0, 1000, 1020])
        #expect(reading.messages.count == 3)
    }

    /// The `after` of the first line counts from the opening of its connection.
    @Test(arguments: ["signalr", "eventflit", "raw", "events"])
    func theFirstPauseFollowsTheOpening(_ codec: String) throws {
        let reading = try Reading(
            tape: """
                {"tape":1,"protocol":"\(codec)","route":"/chat"}
                {"d":"<","after":"2s","json":{"type":1,"event":"Tick","target":"Tick","arguments":[],"data":"{}"}}
                {"c":2,"d":"<","after":"1s","json":{"type":1,"event":"Tick","target":"Tick","arguments":[],"data":"{}"}}
                """)
        #expect(reading.sessions.map(\.opened) == [0, 2_000_000_000])
        for (session, time) in zip(reading.sessions, [2_000_000_000, 3_000_000_000] as [UInt64]) {
            let times = session.entries.map(\.time)
            #expect(times.last == time && times.dropLast().allSatisfy { $0 == session.opened })
        }
    }

    @Test func aHandshakeOfItsOwnStays() throws {
        let reading = try Reading(
            tape: """
                \(Self.header)
                {"d":">","json":{"protocol":"json","version":2}}
                {"d":"<","json":{}}
                {"d":"<","json":{"type":6}}
                """)
        #expect(reading.sessions.map(\.lines) == [["> Handshake json 2", "< Handshake accepted"]])
        #expect(reading.messages.map(\.message.role) == [.handshake, .handshake, .keepalive])
    }

    @Test func jsonPayloadsOfWholeTapesAreFramed() throws {
        let reading = try Reading(
            tape: """
                {"tape":1}
                {"t":0,"c":1,"e":"open"}
                {"t":0,"c":1,"e":"request","x":1,"method":"GET","target":"/hub","headers":[["Upgrade","websocket"]]}
                {"t":0,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}
                {"t":0,"c":1,"e":"message","d":">","op":"text","json":{"protocol":"json","version":1}}
                {"t":0,"c":1,"e":"message","d":"<","op":"text","json":{}}
                """)
        let session = reading.sessions[0]
        #expect(session.codec.id == "signalr")
        #expect(session.opening.firstPayload.last == 0x1e)
        #expect(session.lines == ["> Handshake json 1", "< Handshake accepted"])
    }
}
