import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// Sessions over long polling.
@Suite struct PollingSessionTests {
    private static let opening = """
        1 open
        1 > 1 POST /chat/negotiate?negotiateVersion=1
        1 < 1 200 \(TapeScript.negotiated("a"))
        1 > 2 GET /chat?id=a&_=1
        [20] 1 < 2 200
        2 open
        2 > 1 GET /chat?id=a&_=2
        1 > 3 POST /chat?id=a {"protocol":"json","version":1}|
        2 < 1 200 {}|
        1 < 3 200

        """

    private func reading(_ script: String) -> Reading { Reading(Codecs.all, TapeScript.events(Self.opening + script)) }

    @Test func messagesComeFromPollsAndPosts() {
        let reading = reading(
            """
            2 > 2 GET /chat?id=a&_=3
            2 < 2 200
            2 > 3 GET /chat?id=a&_=4
            3 open
            3 > 1 POST /chat?id=a ...
            3 >> 1 {"type":1,"target":"Send",
            2 < 3 200 ...
            3 >> 1 "arguments":[]}|
            2 << 3 {"type":1,"target":"A","arguments":[]}|{"type":1,
            3 >. 1
            2 << 3 "target":"B","arguments":[]}|
            2 <. 3
            3 < 1 200
            """)
        let session = reading.sessions[0]
        #expect(reading.sessions.count == 1 && session.transport == .lp && session.connections == [1, 2, 3])
        #expect(session.opening.request.target == "/chat?id=a&_=1" && session.opened == 20_000_000)
        #expect(
            session.lines == ["> Handshake json 1", "< Handshake accepted", "> Send()", "< A()", "< B()"])
        #expect(session.entries.map(\.frame) == [1, 2, 3, 4, 4])
        #expect(session.entries.map(\.event) == [8, 9, 20, 22, 22])
        #expect(Set(reading.messages.map(\.transport)) == [.lp])
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test(arguments: [
        // The server's end, and the client's.
        ("2 > 9 GET /chat?id=a\n2 < 9 204", ["< close 1000"]),
        ("2 > 9 GET /chat?id=a\n1 > 9 DELETE /chat?id=a\n1 < 9 202\n2 < 9 204", []),
        ("2 > 9 GET /chat?id=a\n2 < 9 204\n1 > 9 DELETE /chat?id=a", ["< close 1000"]),
        // What comes behind a DELETE is not for the client any more; what the client still says is its own.
        (
            "2 > 9 GET /chat?id=a\n1 > 9 DELETE /chat?id=a\n2 < 9 200 {\"type\":7}|\n2 > 10 POST /chat?id=a {\"type\":7}|",
            ["> Close"]
        ),
        // A newer poll has taken its place, and the newer one's own end.
        ("2 > 9 GET /chat?id=a\n1 > 9 GET /chat?id=a\n2 < 9 204", []),
        ("2 > 9 GET /chat?id=a\n1 > 9 GET /chat?id=a\n2 < 9 204\n1 < 9 204", ["< close 1000"]),
        // Cut and refused polls.
        ("2 > 9 GET /chat?id=a\n2 gone server fin", ["< disconnect"]),
        ("2 > 9 GET /chat?id=a\n2 gone server rst", ["< reset"]),
        ("2 > 9 GET /chat?id=a\n2 < 9 200 ...\n2 << 9 {\"type\":\n2 gone server rst", ["< reset"]),
        ("2 > 9 GET /chat?id=a\n2 < 9 404 none", ["< disconnect"]),
        ("2 > 9 GET /chat?id=a\n2 <! 9 502 none", ["< disconnect"]),
        ("2 > 9 GET /chat?id=a\n2 gone client fin\n2 gone server fin", []),
        ("2 > 9 GET /chat?id=a\n2 gone proxy fin\n2 gone server fin", []),
        ("1 gone server fin", []),
        // A later poll shows that the client went on behind it; so does what it said meanwhile.
        (
            "2 > 9 GET /chat?id=a\n2 gone server rst\n1 > 8 POST /chat?id=a {\"type\":1,\"target\":\"A\",\"arguments\":[]}|\n"
                + "1 > 9 GET /chat?id=a\n1 < 9 200", ["< reset", "> A()"]
        ),
        // However many fail until one succeeds; and the next failure is one more.
        (
            "2 > 9 GET /chat?id=a\n2 < 9 502 none\n2 > 10 GET /chat?id=a\n2 < 10 502 none\n2 > 11 GET /chat?id=a\n"
                + "2 < 11 200 {\"type\":1,\"target\":\"A\",\"arguments\":[]}|\n2 > 12 GET /chat?id=a\n2 gone server fin",
            ["< disconnect", "< A()", "< disconnect"]
        ),
        // Otherwise it counts for nothing.
        (
            "2 > 9 GET /chat?id=a\n2 < 9 404\n1 > 8 POST /chat?id=a {\"type\":1,\"target\":\"A\",\"arguments\":[]}|",
            ["< disconnect"]
        ),
    ])
    func endings(_ script: String, _ lines: [String]) {
        #expect(reading(script).sessions.map { Array($0.lines.dropFirst(2)) } == [lines])
    }

    @Test func bigBodiesAreDecoded() {
        let argument = String(repeating: "x", count: 300_000)
        let reading = reading(
            """
            2 > 2 GET /chat?id=a&_=3
            1 > 4 POST /chat?id=a ...
            1 >> 4 {"type":1,"target":"Up","arguments":["\(argument)
            1 >> 4 \(argument)"]}|
            1 >. 4
            2 < 2 200 ...
            2 << 2 {"type":1,"target":"Down","arguments":["\(argument)
            2 << 2 \(argument)"]}|
            2 <. 2
            """)
        #expect(reading.messages.suffix(2).map(\.message.label) == ["Up", "Down"])
        #expect(reading.messages.suffix(2).allSatisfy { $0.message.bytes.count > 600_000 })
        #expect(reading.sessions[0].entries.count == 4)
    }

    @Test func binaryBodiesAreBinary() {
        var events = TapeScript.events(
            Self.opening.replacing("json", with: "messagepack") + "2 > 2 GET /chat?id=a")
        let ping: [UInt8] = [0x02, 0x91, 0x06]
        events.append(
            TapeEvent(
                time: 30_000_000, connection: 2,
                .response(x: 2, ResponseHead(status: 200), .whole(ping), interim: false, coding: nil, proxy: false)))
        let reading = Reading(Codecs.all, events)
        #expect(reading.messages.map(\.message.opcode) == [.text, .text, .binary])
    }

    @Test func manySessionsAtOnceKeepApart() {
        let scripts = (1...20).map(Self.numbered)
        // Lines of all sessions in turn.
        var mixed = ""
        for i in 0..<10 {
            for lines in scripts { mixed += lines[i] + "\n" }
        }
        let sessions = Reading(Codecs.all, TapeScript.events(mixed)).sessions
        #expect(sessions.count == 20)
        #expect(sessions.allSatisfy { $0.lines == ["> Handshake json 1", "< Handshake accepted"] })
        for (i, session) in sessions.enumerated() {
            #expect(session.serverIDs?.token == "t\(i + 1)")
            #expect(session.connections == [UInt32(i * 10 + 11), UInt32(i * 10 + 12)])
        }
    }

    /// The lines of the opening with their own token and connections.
    private static func numbered(_ n: Int) -> [String] {
        opening.split(separator: "\n").map { line in
            let text = line.hasPrefix("[") ? line.drop { $0 != " " }.dropFirst() : line
            let connection = (text.first?.wholeNumberValue ?? 0) + n * 10
            let renamed = text.dropFirst().replacing("id=a", with: "id=t\(n)")
            return "\(connection)" + renamed.replacing("oken\":\"a\"", with: "oken\":\"t\(n)\"")
        }
    }

    @Test func aTokenThatNobodyUsesIsNoSession() {
        // An upgrade whose header was dropped on the way is answered as the first poll; the client negotiates again.
        let script = """
            1 open
            1 > 1 POST /chat/negotiate?negotiateVersion=1
            1 < 1 200 \(TapeScript.negotiated("b"))
            1 > 2 GET /chat?id=b
            1 < 2 200

            """ + Self.opening.replacing("1 open\n", with: "")
        let reading = Reading(Codecs.all, TapeScript.events(script))
        #expect(reading.sessions.map(\.serverIDs?.token) == ["a"])
        #expect(reading.reader.exchanges.isEmpty)
    }

    @Test func hostileTapesCostBoundedMemory() {
        var reading = Reading(Codecs.all, keepsEntries: false)
        // Polls of unknown ids, requests without answers, events of unknown connections and exchanges, refused tokens.
        for n in 1...5_000 {
            for event in TapeScript.events(
                """
                1 > \(n) GET /chat?id=u\(n)
                1 < \(n) 200 {}
                2 > \(n) GET /chat?id=v\(n)
                3 << \(n) data: x~~
                4 <. \(n)
                \(n) > 7 POST /chat?id=w {
                \(n) gone server rst
                """)
            { reading.read(event) }
        }
        #expect(reading.messages.isEmpty && reading.sessions.isEmpty)
        // 15,000 requests were read.
        #expect(reading.reader.remembered <= 8_192)
    }
}
