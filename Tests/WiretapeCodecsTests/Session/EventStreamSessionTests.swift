import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Sessions over an event stream and posts.
@Suite struct EventStreamSessionTests {
    private static let opening = """
        1 open
        1 > 1 POST /chat/negotiate?negotiateVersion=1
        1 < 1 200 \(TapeScript.negotiated("a"))
        2 open
        [20] 2 > 1 SSE /chat?id=a
        [30] 2 < 1 200s ...
        2 << 1 :~
        1 > 2 POST /chat?id=a {"protocol":"json","version":1}|
        1 < 2 200
        2 << 1 data: {}|~~

        """

    private func sessions(_ script: String) -> [RecordedSession] {
        Reading(Codecs.all, TapeScript.events(Self.opening + script)).sessions
    }

    @Test func messagesComeFromEventsAndPosts() {
        let reading = Reading(
            Codecs.all,
            TapeScript.events(
                Self.opening + """
                    3 open
                    3 > 1 POST /chat?id=a {"type":1,"invocationId":"1","target":"Send","arguments":["hi"]}|
                    2 << 1 :a comment~~retry: 5~~
                    2 << 1 data: {"type":1,"target":"A","arguments":[]}|{"type":1,"target":"B","arguments":[]}|~~da
                    2 << 1 ta: {"type":3,"invocationId":"1"}
                    2 << 1 |~
                    2 << 1 ~data: {"type":6}|~~
                    3 < 1 200
                    """))
        let session = reading.sessions[0]
        #expect(reading.sessions.count == 1)
        #expect(session.transport == .sse && session.route == "/chat" && session.connections == [1, 2, 3])
        #expect(session.serverIDs == ServerIDs(connectionID: "ia", token: "a"))
        #expect(session.opening.request.target == "/chat?id=a" && session.opening.response?.status == 200)
        #expect(session.opened == 30_000_000)
        #expect(
            session.lines == [
                "> Handshake json 1", "< Handshake accepted", #"> Send("hi")"#, "< A()", "< B()", "< Completion 1",
            ])
        #expect(session.entries.map(\.frame) == [1, 2, 3, 4, 4, 5])
        #expect(session.entries.map(\.connection) == [1, 2, 3, 2, 2, 2])
        #expect(session.entries.map(\.event) == [8, 10, 12, 14, 14, 17])
        #expect(reading.messages.map(\.transport) == Array(repeating: .sse, count: 7))
        #expect(reading.messages[3].payload == reading.messages[4].payload)
        #expect(reading.messages[3].message.bytes + reading.messages[4].message.bytes == reading.messages[3].payload)
        #expect(reading.messages[6].message.role == .keepalive)
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test(arguments: [
        ("2 <. 1", ["< close 1000"]),
        ("2 gone server fin", ["< disconnect"]),
        ("2 gone server rst", ["< reset"]),
        ("2 gone server error", ["< reset"]),
        ("2 gone client fin\n2 gone server fin", []),
        ("2 gone client rst", []),
        ("2 gone proxy fin\n2 gone server rst", []),
        ("2 <. 1\n2 gone server rst", ["< close 1000"]),
        ("1 gone server fin", []),
        ("2 <. 1\n1 > 9 POST /chat?id=a {\"type\":7}|", ["< close 1000", "> Close"]),
    ])
    func endings(_ script: String, _ lines: [String]) {
        #expect(sessions(script).map { Array($0.lines.dropFirst(2)) } == [lines])
    }

    @Test func anEventThatTheEndCutIsNoMessage() {
        #expect(sessions("2 << 1 data: {\"type\":7}|~\n2 gone server fin")[0].lines.last == "< disconnect")
    }

    /// The end of the connection is the end of a body without a length.
    @Test func aStreamOfAnOldServerEndsWithItsConnection() {
        var events = TapeScript.events(Self.opening + "2 gone server fin")
        for i in events.indices {
            if case .response(let x, var head, .streamed, let interim, let coding, let proxy) = events[i].kind {
                head.headers.removeAll { $0.name == "Transfer-Encoding" }
                events[i].kind = .response(x: x, head, .streamed, interim: interim, coding: coding, proxy: proxy)
            }
        }
        #expect(Reading(Codecs.all, events).sessions[0].lines.last == "< close 1000")
    }

    @Test func theHeadMayBeWrittenBehindTheFirstPost() {
        let script = """
            1 open
            1 > 1 POST /chat/negotiate?negotiateVersion=1
            1 < 1 200 \(TapeScript.negotiated("a"))
            2 open
            2 > 1 SSE /chat?id=a
            [20] 1 > 2 POST /chat?id=a {"protocol":"json","version":1}|
            [21] 2 < 1 200s ...
            2 << 1 :~data: {}|~~
            """
        let session = Reading(Codecs.all, TapeScript.events(script)).sessions[0]
        #expect(session.transport == .sse && session.opened == 20_000_000)
        #expect(session.opening.response?.status == 200)
        #expect(session.lines == ["> Handshake json 1", "< Handshake accepted"])
    }

    @Test func withoutTheNegotiationTheHandshakeTells() {
        let script = Self.opening.split(separator: "\n").dropFirst(3).joined(separator: "\n")
        let reading = Reading(Codecs.all, TapeScript.events(script))
        #expect(reading.sessions.map(\.lines) == [["> Handshake json 1", "< Handshake accepted"]])
        #expect(reading.sessions[0].transport == .sse && reading.sessions[0].negotiate == nil)
        #expect(reading.sessions[0].serverIDs?.token == "a")
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test func aSecondHandshakeIsANewSession() {
        let again = Self.opening.replacing("1 open", with: "11 open").replacing("\n1 ", with: "\n11 ")
            .replacing("\n2 ", with: "\n12 ").replacing("] 2 ", with: "] 12 ")
        let sessions = Reading(Codecs.all, TapeScript.events(Self.opening + "2 <. 1\n" + again)).sessions
        #expect(sessions.map(\.lines.count) == [3, 2])
        #expect(sessions.allSatisfy { $0.negotiate != nil && $0.serverIDs?.token == "a" })
    }

    /// Every split of the stream and of a posted body gives the same session.
    @Test func piecesMakeNoDifference() {
        let whole = TapeScript.events(
            Self.opening + """
                3 open
                3 > 1 POST /chat?id=a ...
                3 >> 1 {"type":1,"target":"Sénd","arguments":["hi"]}|{"type":6}|
                3 >. 1
                2 << 1 data: {"type":1,"target":"Ä","arguments":[]}|~data: {"type":6}|~~:~~data: {"type":6}|~~
                2 <. 1
                """)
        let expected = Reading(Codecs.all, whole)
        func key(_ reading: Reading) -> [String] {
            reading.sessions.flatMap(\.lines) + reading.messages.map { "\($0.frame) \($0.payload) \($0.message.bytes)" }
        }
        for size in 1...7 {
            let torn = whole.flatMap { event -> [TapeEvent] in
                guard case .chunk(let x, let direction, let bytes) = event.kind else { return [event] }
                return stride(from: 0, to: bytes.count, by: size).map { i in
                    TapeEvent(
                        time: event.time, connection: event.connection,
                        .chunk(x: x, direction, Array(bytes[i..<min(i + size, bytes.count)])))
                }
            }
            #expect(key(Reading(Codecs.all, torn)) == key(expected), "\(size)")
        }
        #expect(expected.sessions[0].lines.count == 5)
    }
}
