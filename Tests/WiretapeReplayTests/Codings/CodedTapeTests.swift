import Foundation
import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReplay
import WiretapeReport
import WiretapeWire

/// Bodies with content codings are read as what they mean: by codecs, in canonical tapes, in validation.
@Suite struct CodedTapeTests {
    /// Every tape of this package that has bodies.
    static let tapes: [String] = {
        let manager = FileManager.default
        let folders = ["recordings"] + ["signalr", "graphql", "eventflit", "atmosphere"].map { "Tests/Fixtures/\($0)" }
        return folders.flatMap { folder in
            let names = (try? manager.contentsOfDirectory(atPath: Golden.root.appending(path: folder).path)) ?? []
            return names.filter { $0.hasSuffix(".tape") || $0.hasSuffix(".tape.gz") }.map { "\(folder)/\($0)" }.sorted()
        }
    }()

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: Golden.root.appending(path: name)))
    }

    /// Some of each protocol.
    static let some = tapes.filter { name in
        ["chat-lp", "chat-sse", "longpolling", "graphql-multipart.", "graphql-sse.", "redirect.", "pusher-lp"].contains
        {
            name.contains($0)
        }
    }

    @Test(arguments: tapes, ["gzip, br, zstd"]) func codecsReadEveryTape(_ name: String, _ codings: String) throws {
        try compare(name, codings)
    }

    @Test(arguments: some, ["gzip", "deflate", "br", "zstd"])
    func codecsReadWhatIsMeant(_ name: String, _ codings: String) throws {
        try compare(name, codings)
    }

    private func compare(_ name: String, _ codings: String) throws {
        let plain = try CodedTape.read(try Self.bytes(name))
        let coded = try CodedTape.read(CodedTape.lines(CodedTape.encoded(plain.events, codings)))
        #expect(coded.undecoded.isEmpty, "\(coded.undecoded.map(\.text))")
        #expect(coded.sessions.count == plain.sessions.count)
        for (a, b) in zip(plain.sessions, coded.sessions) {
            #expect(a.said == b.said && a.transport == b.transport && a.codec.id == b.codec.id)
            #expect(a.serverIDs == b.serverIDs && a.obstacle == nil && b.obstacle == nil)
            #expect(a.refusal?.status == b.refusal?.status && a.refusal?.body == b.refusal?.body)
            #expect(a.negotiate?.responseBody == b.negotiate?.responseBody)
        }
        #expect(coded.exchanges.map(\.responseBody) == plain.exchanges.map(\.responseBody))
        #expect(coded.exchanges.map(\.requestBody) == plain.exchanges.map(\.requestBody))
        #expect(coded.exchanges.allSatisfy { $0.response.headers.first("Content-Encoding") == nil })
    }

    @Test(arguments: tapes, ["br, zstd"])
    func theCanonicalTapeIsTheSameConversation(_ name: String, _ codings: String) throws {
        let plain = try CodedTape.read(try Self.bytes(name))
        let coded = CodedTape.lines(CodedTape.encoded(plain.events, codings))
        let canonical = try CodedTape.canonical(coded)
        let known = try CodedTape.read(try CodedTape.canonical(CodedTape.lines(plain.events)))
        let read = try CodedTape.read(canonical)
        #expect(read.undecoded.isEmpty, "\(read.undecoded.map(\.text))")
        #expect(read.sessions.map(\.said) == known.sessions.map(\.said))
        #expect(read.exchanges.map(\.responseBody) == known.exchanges.map(\.responseBody))
        #expect(read.exchanges.map(\.requestBody) == known.exchanges.map(\.requestBody))
        #expect(try CodedTape.canonical(canonical) == canonical, "it is canonical already")
    }

    @Test func eventsHaveTheirTimes() throws {
        let name = "Tests/Fixtures/graphql/graphql-multipart-strawberry.tape"
        let plain = try CodedTape.read(try Self.bytes(name))
        let coded = try CodedTape.read(CodedTape.lines(CodedTape.encoded(plain.events, "br")))
        for (a, b) in zip(plain.sessions, coded.sessions) {
            #expect(a.entries.map(\.time) == b.entries.map(\.time))
        }
    }

    // MARK: What cannot be decoded

    private static func exchange(_ codings: String, _ body: [UInt8], status: Int = 200) -> [TapeEvent] {
        [
            TapeEvent(time: 0, connection: 1, .open(.init())),
            TapeEvent(time: 0, connection: 1, .request(x: 1, RequestHead(method: "GET", target: "/api"), .none)),
            TapeEvent(
                time: 0, connection: 1,
                .response(
                    x: 1, ResponseHead(status: status, headers: [HeaderField("Content-Encoding", codings)]),
                    body.isEmpty ? .none : .whole(body), interim: false, coding: nil, proxy: false)),
        ]
    }

    static let broken: [(codings: String, body: [UInt8], why: String)] = [
        ("snappy", [1, 2, 3], "the coding 'snappy' is not known"),
        ("gzip, snappy", [1, 2, 3], "the coding 'gzip, snappy' is not known"),
        ("br", Array(CodedTape.whole(Array("hello".utf8), "br").dropLast()), "it ends too early"),
        ("gzip", Array("no gzip".utf8), "the bytes are damaged, or of another coding"),
        ("zstd, gzip", CodedTape.whole(Array("no zstd".utf8), "gzip"), "the bytes are damaged, or of another coding"),
        ("gzip", CodedTape.whole([UInt8](repeating: 0, count: 2 << 20), "gzip"), "more than 1024 KiB comes out of it"),
    ]

    @Test(arguments: broken.indices) func itStaysAsItWasAndValidateSaysSo(_ i: Int) throws {
        let (codings, body, why) = Self.broken[i]
        let tape = CodedTape.lines(Self.exchange(codings, body))
        let read = try CodedTape.read(tape)
        #expect(read.exchanges.map(\.responseBody) == [body])
        #expect(
            try CodedTape.findings(tape) == [
                "4: the answer's body cannot be decoded (\(codings)): \(why); it is replayed as it was received"
            ])
        let play = try Playbook(read.exchanges)
        let c = play.request("GET", "/api")
        #expect(play.answers[c]?.body == body)
        #expect(play.answers[c]?.headers == [HeaderField("Content-Encoding", codings)])
        // A canonical tape that has not more in it than is kept of a body has it as it was, too.
        let canonical = try CodedTape.read(try CodedTape.canonical(tape))
        if body.count < 1_000 {
            #expect(canonical.exchanges.map(\.responseBody) == [body])
            #expect(canonical.undecoded.map(\.text) == read.undecoded.map(\.text))
        }
    }

    @Test func aRequestThatCannotBeDecodedIsComparedAsItIs() throws {
        func tape(_ body: [UInt8]) -> [UInt8] {
            var events = Self.exchange("br", CodedTape.whole(Array("fine".utf8), "br"))
            events[1].kind = .request(
                x: 1,
                RequestHead(method: "POST", target: "/api", headers: [HeaderField("Content-Encoding", "snappy")]),
                .whole(body))
            return CodedTape.lines(events)
        }
        #expect(
            try CodedTape.findings(tape([1, 2])) == [
                "3: the request's body cannot be decoded (snappy): the coding 'snappy' is not known; it is replayed as it "
                    + "was received"
            ])
        let play = try Playbook(try CodedTape.read(tape([1, 2])).exchanges)
        let same = play.request("POST", "/api", [HeaderField("Content-Encoding", "snappy")], body: [1, 2])
        play.expect(same, "200 fine")
        let other = play.request("POST", "/api", [HeaderField("Content-Encoding", "snappy")], body: [1, 3])
        #expect(play.answers[other]?.status == 409)
    }

    @Test(arguments: [200, 204, 304], ["br", "gzip", "snappy"]) func noBodyHasNoCoding(_ status: Int, _ codings: String)
        throws
    {
        for method in ["GET", "HEAD"] {
            var events = Self.exchange(codings, [], status: status)
            events[1].kind = .request(x: 1, RequestHead(method: method, target: "/api"), .none)
            let tape = CodedTape.lines(events)
            #expect(try CodedTape.findings(tape) == [])
            let play = try Playbook(try CodedTape.read(tape).exchanges)
            let c = play.request(method, "/api")
            #expect(play.answers[c]?.status == status && play.answers[c]?.body == [])
            let canonical = try CodedTape.read(try CodedTape.canonical(tape))
            #expect(canonical.undecoded.isEmpty && canonical.exchanges.count == 1)
        }
    }

    @Test func aSessionWhoseAnswersCannotBeReadIsRefused() throws {
        let plain = try CodedTape.read(try Self.bytes("recordings/chat-sse.tape.gz"))
        // The negotiation can be read, the stream cannot.
        var events = plain.events
        for i in events.indices {
            guard case .response(let x, var head, .streamed, false, nil, false) = events[i].kind else { continue }
            head.headers.append(HeaderField("Content-Encoding", "snappy"))
            events[i].kind = .response(x: x, head, .streamed, interim: false, coding: nil, proxy: false)
        }
        let tape = CodedTape.lines(events)
        let read = try CodedTape.read(tape)
        #expect(read.sessions.count == plain.sessions.count)
        let why = "has an answer that cannot be decoded: the coding 'snappy' is not known"
        #expect(read.sessions.compactMap(\.obstacle) == read.sessions.map { _ in why })
        #expect(try CodedTape.findings(tape).contains { $0.contains("cannot be decoded (snappy)") })
        let play = try Playbook(read.sessions)
        #expect(play.negotiate(plain.sessions[0].route) == nil)
        #expect(play.finish().verdict != .pass)
    }

    /// What the recorder removed is gone from the head as well, and what it could not remove is not.
    @Test func whatTheRecorderRemoved() throws {
        var events = Self.exchange("x-gzip", Array("plain".utf8))
        events[2].kind = .response(
            x: 1,
            ResponseHead(status: 200, headers: [HeaderField("Content-Encoding", "x-gzip"), HeaderField("A", "b")]),
            .whole(Array("plain".utf8)), interim: false, coding: "gzip", proxy: false)
        let read = try CodedTape.read(CodedTape.lines(events))
        #expect(read.undecoded.isEmpty)
        #expect(read.exchanges.map(\.response.headers) == [[HeaderField("A", "b")]])
    }

    // MARK: Replay

    /// A client reads what the server meant, and is understood whatever it encodes.
    @Test(arguments: ["gzip", "deflate", "br", "zstd", "br, gzip"]) func replaySaysWhatWasMeant(_ codings: String)
        throws
    {
        let asked = Array(#"{"n":1}"#.utf8)
        var events = Self.exchange(codings, CodedTape.whole(Array("meant".utf8), codings))
        let type = HeaderField("Content-Type", "application/json")
        events[1].kind = .request(
            x: 1,
            RequestHead(method: "POST", target: "/api", headers: [type, HeaderField("Content-Encoding", codings)]),
            .whole(CodedTape.whole(asked, codings)))
        for tape in [CodedTape.lines(events), try CodedTape.canonical(CodedTape.lines(events))] {
            let play = try Playbook(try CodedTape.read(tape).exchanges)
            let c = play.request("POST", "/api", [type], body: asked)
            #expect(play.answers[c]?.body == Array("meant".utf8))
            #expect(play.answers[c]?.headers.first("Content-Encoding") == nil)
            for other in ["gzip", "deflate", "br", "zstd"] {
                let play = try Playbook(try CodedTape.read(tape).exchanges)
                let field = HeaderField("Content-Encoding", other)
                let c = play.request("POST", "/api", [type, field], body: CodedTape.whole(asked, other))
                #expect(play.answers[c]?.body == Array("meant".utf8), "a request in \(other)")
                let wrong = play.request("POST", "/api", [type, field], body: CodedTape.whole([0x31], other))
                #expect(play.answers[wrong]?.status == 409)
            }
        }
    }

    /// A whole session over long polling whose server and client encode everything: fails unless the negotiation is read.
    @Test(arguments: ["gzip", "deflate", "br", "zstd"]) func aSessionPlaysAsItWas(_ codings: String) throws {
        let plain = try CodedTape.read(try Self.bytes("recordings/chat-lp.tape.gz"))
        let coded = try CodedTape.read(CodedTape.lines(CodedTape.encoded(plain.events, codings)))
        var digests: Set<String> = []
        for sessions in [plain.sessions, coded.sessions] {
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
}
