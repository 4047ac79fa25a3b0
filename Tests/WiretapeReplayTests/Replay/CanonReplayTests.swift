import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReplay
import WiretapeReport
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// A canonical tape is the same conversation: the same sessions, messages, endings, and the same digest when played.
@Suite struct CanonReplayTests {
    static let tapes: [String] = {
        let root = Golden.root
        let manager = FileManager.default
        let recordings = (try? manager.contentsOfDirectory(atPath: root.appending(path: "recordings").path)) ?? []
        let fixtures = ["signalr", "atmosphere"].flatMap { folder in
            let names = try? manager.contentsOfDirectory(atPath: root.appending(path: "Tests/Fixtures/\(folder)").path)
            return (names ?? []).filter { $0.hasSuffix(".tape") }.map { "Tests/Fixtures/\(folder)/\($0)" }.sorted()
        }
        return recordings.filter { $0.hasSuffix(".tape.gz") }.map { "recordings/\($0)" }.sorted() + fixtures
    }()

    private static func sessions(_ bytes: [UInt8]) throws -> (
        sessions: [RecordedSession], exchanges: [RecordedExchange]
    ) {
        var tape = try TapeReader(bytes: bytes, name: "t.tape")
        var reader = SessionReader(codecs: Codecs.all, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return (reader.finish(), reader.exchanges)
    }

    private static func canonical(_ bytes: [UInt8]) throws -> [UInt8] {
        var reader = try TapeLineReader(bytes: bytes, name: "t.tape")
        var canon = TapeCanon(codecs: Codecs.all)
        var lines: [TapeNewLine] = []
        while let line = try reader.next() { canon.add(line, into: &lines) }
        canon.finish(into: &lines)
        return lines.flatMap { $0.bytes + [0x0a] }
    }

    /// What replay plays: messages by their meaning and chain, endings, without what is optional behind a farewell.
    private static func script(_ session: RecordedSession) -> [String] {
        var script: [String] = []
        var places: [Chain: Int] = [:]
        for entry in session.entries {
            switch entry.what {
            case .message(let message):
                if message.role == .close, message.direction == .toServer { return script }
                let chain = message.chain.map { chain in
                    places[chain] = places[chain] ?? places.count
                    return "\(places[chain] ?? 0)"
                }
                script.append("\(message.direction.mark) \(message.matchKey) \(chain ?? "-") \(message.opens.count)")
            case .ending(let ending): script.append("\(ending)")
            }
        }
        return script
    }

    @Test(arguments: tapes) func theConversationIsTheSame(_ name: String) throws {
        let original = Array(try Data(contentsOf: Golden.root.appending(path: name)))
        let canonical = try Self.canonical(original)
        let (before, beside) = try Self.sessions(original)
        let (after, besideAfter) = try Self.sessions(canonical)
        #expect(!before.isEmpty && before.count == after.count)
        for (a, b) in zip(before, after) {
            #expect(a.codec.id == b.codec.id && a.transport == b.transport && a.route == b.route)
            #expect(a.redirects.count == b.redirects.count && (a.negotiate == nil) == (b.negotiate == nil))
            #expect(a.refusal?.status == b.refusal?.status)
            #expect(a.name == b.name)
            #expect(Self.script(a) == Self.script(b))
        }
        #expect(beside.map(\.request.method) == besideAfter.map(\.request.method))
        #expect(beside.map(\.response.status) == besideAfter.map(\.response.status))
        #expect(try Self.canonical(canonical) == canonical, "it is canonical already")
        // Nothing that changes from run to run is left.
        let text = String(decoding: canonical, as: UTF8.self)
        for word in [
            "\"Date\"", "Sec-WebSocket-Key", "Sec-WebSocket-Accept", "\"User-Agent\"", "&_=", "?_=",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        #expect(!text.contains(/127\.0\.0\.1:\d/))
        for ids in before.compactMap(\.serverIDs) {
            #expect(!text.contains(ids.token) && !text.contains(ids.connectionID))
        }
    }

    /// Played to the client of the original, and to its own: one digest.
    @Test(arguments: RealTapeTests.tapes) func theDigestIsTheSame(_ name: String) throws {
        let original = Array(try Data(contentsOf: Golden.root.appending(path: "Tests/Fixtures/signalr/\(name).tape")))
        let canonical = try Self.canonical(original)
        var digests: Set<String> = []
        for bytes in [original, canonical] {
            let sessions = try Self.sessions(bytes).sessions
            let play = try Playbook(sessions, speed: .instant)
            for client in sessions.map(TapeClient.init) {
                try client.connect(to: play)
                client.run { client, said, heard in
                    client.script[..<said].count { $0.direction == .toClient } <= heard
                }
            }
            let report = play.finish()
            #expect(report.verdict == .pass, "\(report.reasons)")
            digests.insert(report.digest)
        }
        #expect(digests.count == 1)
    }

    @Test func commentsAndNotesStayWhereTheyWere() throws {
        let lines = [
            #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z","upstreams":{"main":"http://127.0.0.1:5000"}}"#,
            "# first",
            #"{"t":1500000,"c":1,"e":"open","from":"127.0.0.1:4001","to":"127.0.0.1:8080","upstream":"main"}"#,
            #"{"t":1600000,"c":1,"e":"request","x":1,"method":"GET","target":"/chat","headers":[["Upgrade","websocket"],["Host","127.0.0.1:8080"]]}"#,
            #"{"t":1700000,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
            "# the handshake",
            #"{"t":2100000,"c":1,"e":"message","d":">","op":"text","text":"{\"version\":1,\"protocol\":\"json\"}\u001e"}"#,
            #"{"t":2200000,"c":1,"e":"message","d":"<","op":"text","text":"{}\u001e{\"type\":6}\u001e"}"#,
            #"{"t":2300000,"e":"mark","text":"here"}"#, #"{"t":2900000,"c":1,"e":"weather","sun":1}"#, "",
            #"{"t":3000000,"c":1,"e":"ping","d":"<","text":""}"#,
            #"{"t":3100000,"c":1,"e":"message","d":"<","op":"text","text":"{\"type\":1,\"target\":\"A\",\"arguments\":[\"\\ud800\"]}\u001e"}"#,
            "# last",
        ]
        let canonical = String(
            decoding: try Self.canonical(Array((lines.joined(separator: "\n") + "\n").utf8)), as: UTF8.self)
        #expect(
            canonical == """
                {"tape":1,"started":"2026-01-01T00:00:00.000000Z","upstreams":{"main":"http://127.0.0.1"},"canonical":true}
                # first
                {"t":1000000,"c":1,"e":"open","from":"127.0.0.1","to":"127.0.0.1","upstream":"main"}
                {"t":1000000,"c":1,"e":"request","x":1,"method":"GET","target":"/chat","headers":[["Host","127.0.0.1"],["Upgrade","websocket"]]}
                {"t":1000000,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}
                # the handshake
                {"t":2000000,"c":1,"e":"message","d":">","op":"text","json":{"protocol":"json","version":1}}
                {"t":2000000,"c":1,"e":"message","d":"<","op":"text","json":{}}
                {"t":2000000,"e":"mark","text":"here"}
                {"t":2000000,"c":1,"e":"weather","sun":1}

                {"t":3000000,"c":1,"e":"message","d":"<","op":"text","text":"{\\"type\\":1,\\"target\\":\\"A\\",\\"arguments\\":[\\"\\\\ud800\\"]}\\u001e"}
                # last

                """)
    }

    /// An application that hands its connection's id on gets the canonical one, and the digest does not change.
    @Test func idsInMessagesAreRenamedToo() throws {
        func record(_ id: String, _ token: String) -> [UInt8] {
            func text(_ text: String) -> String { JSONValue.string(text).text }
            let answer =
                #"{"negotiateVersion":1,"connectionId":"\#(id)","connectionToken":"\#(token)","availableTransports":[]}"#
            let lines = [
                #"{"tape":1}"#, #"{"t":1,"c":1,"e":"open"}"#,
                #"{"t":1,"c":1,"e":"request","x":1,"method":"POST","target":"/chat/negotiate?negotiateVersion=1","headers":[]}"#,
                #"{"t":1,"c":1,"e":"response","x":1,"status":200,"headers":[],"text":\#(text(answer))}"#,
                #"{"t":1,"c":2,"e":"open"}"#,
                #"{"t":1,"c":2,"e":"request","x":1,"method":"GET","target":"/chat?id=\#(token)","headers":[["Upgrade","websocket"]]}"#,
                #"{"t":1,"c":2,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
                #"{"t":1,"c":2,"e":"message","d":">","op":"text","text":"{\"protocol\":\"json\",\"version\":1}\u001e"}"#,
                #"{"t":1,"c":2,"e":"message","d":"<","op":"text","text":"{}\u001e"}"#,
                #"{"t":1,"c":2,"e":"message","d":"<","op":"text","text":\#(text(#"{"type":1,"target":"You","arguments":["\#(id)","x"]}"# + "\u{1e}"))}"#,
            ]
            return Array((lines.joined(separator: "\n") + "\n").utf8)
        }
        let one = record("public-one-public-one", "secret-one-secret-one")
        let two = record("public-two-public-two", "secret-two-secret-two")
        #expect(try Self.canonical(one) == Self.canonical(two))
        #expect(String(decoding: try Self.canonical(one), as: UTF8.self).contains(#""arguments":["id_2","x"]"#))
        var digests: Set<String> = []
        for bytes in [one, two, try Self.canonical(one)] {
            let sessions = try Self.sessions(bytes).sessions
            let play = try Playbook(sessions, speed: .instant)
            let c = try play.start()
            play.pass(ms: 10)
            #expect(play.take(c).count == 1)
            play.close(c)
            digests.insert(play.finish().digest)
        }
        #expect(digests.count == 1)
        let contents = try [one, two].map { try TapeDiff.Content(sessions: Self.sessions($0).sessions, exchanges: []) }
        #expect(TapeDiff.compare(contents[0], contents[1]).isEmpty)
    }

    /// In MessagePack, too.
    @Test func idsInBinaryMessagesAreRenamed() throws {
        func record(_ id: String, _ token: String) -> [UInt8] {
            func text(_ text: String) -> String { JSONValue.string(text).text }
            let answer =
                #"{"negotiateVersion":1,"connectionId":"\#(id)","connectionToken":"\#(token)","availableTransports":[]}"#
            var body: [UInt8] = []
            MessagePack.writeArray(of: 6, into: &body)
            MessagePack.write(1, into: &body)
            MessagePack.writeMap(of: 0, into: &body)
            body.append(0xc0)
            MessagePack.write("You", into: &body)
            MessagePack.writeArray(of: 2, into: &body)
            MessagePack.write(id, into: &body)
            MessagePack.write("x", into: &body)
            MessagePack.writeArray(of: 0, into: &body)
            let frame = [UInt8(body.count)] + body
            let lines = [
                #"{"tape":1}"#, #"{"t":1,"c":1,"e":"open"}"#,
                #"{"t":1,"c":1,"e":"request","x":1,"method":"POST","target":"/chat/negotiate?negotiateVersion=1","headers":[]}"#,
                #"{"t":1,"c":1,"e":"response","x":1,"status":200,"headers":[],"text":\#(text(answer))}"#,
                #"{"t":1,"c":2,"e":"open"}"#,
                #"{"t":1,"c":2,"e":"request","x":1,"method":"GET","target":"/chat?id=\#(token)","headers":[["Upgrade","websocket"]]}"#,
                #"{"t":1,"c":2,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
                #"{"t":1,"c":2,"e":"message","d":">","op":"text","text":"{\"protocol\":\"messagepack\",\"version\":1}\u001e"}"#,
                #"{"t":1,"c":2,"e":"message","d":"<","op":"binary","b64":"\#(Data(Array("{}\u{1e}".utf8)).base64EncodedString())"}"#,
                #"{"t":1,"c":2,"e":"message","d":"<","op":"binary","b64":"\#(Data(frame).base64EncodedString())"}"#,
            ]
            return Array((lines.joined(separator: "\n") + "\n").utf8)
        }
        let one = try Self.canonical(record("public-one-public-one", "secret-one-secret-one"))
        #expect(try one == Self.canonical(record("public-two-public-longer", "secret-two-secret-two")))
        let session = try #require(try Self.sessions(one).sessions.first)
        let titles = session.entries.compactMap { entry in
            if case .message(let message) = entry.what { message.title } else { nil }
        }
        #expect(titles.last == #"Invocation You("id_2", "x")"#, "\(titles)")
    }

    /// Behind the client's farewell the server's end of an event stream may or may not be there before the client leaves it.
    @Test func theEndOfAStreamBehindTheFarewellIsLeftOut() throws {
        let closing = #"{"type":7}"# + "\u{1e}"
        let before = [
            #"{"tape":1}"#, #"{"t":1,"c":1,"e":"open"}"#,
            #"{"t":1,"c":1,"e":"request","x":1,"method":"POST","target":"/chat/negotiate?negotiateVersion=1","headers":[]}"#,
            #"{"t":1,"c":1,"e":"response","x":1,"status":200,"headers":[],"text":"{\"negotiateVersion\":1,\"connectionId\":\"public-one-public-one\",\"connectionToken\":\"secret-one-secret-one\",\"availableTransports\":[]}"}"#,
            #"{"t":1,"c":2,"e":"open"}"#,
            #"{"t":1,"c":2,"e":"request","x":1,"method":"GET","target":"/chat?id=secret-one-secret-one","headers":[["Accept","text/event-stream"]]}"#,
            #"{"t":1,"c":2,"e":"response","x":1,"status":200,"headers":[["Content-Type","text/event-stream"]],"stream":true}"#,
        ]
        func post(_ text: String, _ x: Int) -> [String] {
            [
                #"{"t":2,"c":1,"e":"request","x":\#(x),"method":"POST","target":"/chat?id=secret-one-secret-one","headers":[],"text":\#(JSONValue.string(text).text)}"#,
                #"{"t":2,"c":1,"e":"response","x":\#(x),"status":200,"headers":[]}"#,
            ]
        }
        let handshake = post(#"{"protocol":"json","version":1}"# + "\u{1e}", 2)
        let answer = [#"{"t":3,"c":2,"e":"chunk","x":1,"d":"<","text":"data: {}\u001e\r\n\r\n"}"#]
        let end = #"{"t":4,"c":2,"e":"end","x":1,"d":"<"}"#
        func text(_ last: [String]) throws -> String {
            let lines = before + handshake + answer + last
            return String(
                decoding: try Self.canonical(Array((lines.joined(separator: "\n") + "\n").utf8)), as: UTF8.self)
        }
        let left = #"{"t":5,"c":2,"e":"gone","by":"client","how":"fin"}"#
        let lost = #"{"t":5,"c":2,"e":"gone","by":"server","how":"fin"}"#
        let wanted = try text(post(closing, 3) + [left])
        #expect(!wanted.contains(#""e":"end""#) && !wanted.contains(#""e":"gone""#))
        #expect(try text(post(closing, 3) + [end, left]) == wanted)
        #expect(try text(post(closing, 3) + [lost]) == wanted)
        #expect(try text([left] + post(closing, 3)) == wanted)
        // Without a farewell it is the server's own.
        #expect(try text([end]).contains(#""e":"end""#))
    }

    /// Ids that a client draws and ids that a server counts for all get names; a client's counter stays.
    @Test func drawnIDsAreNamed() throws {
        func record(_ uuid: String, _ server: Int) throws -> String {
            let messages = [
                (">", #"{"protocol":"json","version":1}"#), ("<", "{}"),
                (">", #"{"type":1,"invocationId":"\#(uuid)","target":"A","arguments":[]}"#),
                (">", #"{"type":1,"invocationId":"7","target":"B","arguments":[]}"#),
                ("<", #"{"type":1,"invocationId":"s\#(server)","target":"Ask","arguments":[]}"#),
                (">", #"{"type":3,"invocationId":"s\#(server)","result":1}"#),
                ("<", #"{"type":3,"invocationId":"\#(uuid)","result":null}"#),
            ]
            var lines = [
                #"{"tape":1}"#, #"{"t":1,"c":1,"e":"open"}"#,
                #"{"t":1,"c":1,"e":"request","x":1,"method":"GET","target":"/chat","headers":[["Upgrade","websocket"]]}"#,
                #"{"t":1,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
            ]
            for (d, text) in messages {
                let payload = JSONValue.string(text + "\u{1e}").text
                lines.append(#"{"t":1,"c":1,"e":"message","d":"\#(d)","op":"text","text":\#(payload)}"#)
            }
            return String(
                decoding: try Self.canonical(Array((lines.joined(separator: "\n") + "\n").utf8)), as: UTF8.self)
        }
        let one = try record("3f0c", 4)
        #expect(one == (try record("77aa", 19)))
        #expect(
            one.contains(#""invocationId":"id_1","target":"A""#) && one.contains(#""invocationId":"7","target":"B""#))
        #expect(one.contains(#""json":{"type":3,"invocationId":"id_2","result":1}"#))
    }
}
