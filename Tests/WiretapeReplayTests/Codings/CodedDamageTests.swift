import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReport
import WiretapeWire

/// Sessions whose bodies cannot be decoded are never played as if they could.
@Suite struct CodedDamageTests {
    private static let snappy = HeaderField("Content-Encoding", "snappy")

    /// The tape with the answers that `isMeant` picks in a coding that nobody knows.
    private func tape(_ name: String, where isMeant: (Int) -> Bool) throws -> (plain: CodedTape.Reading, bytes: [UInt8])
    {
        let plain = try CodedTape.read(try CodedTapeTests.bytes(name))
        var events = plain.events
        var count = 0
        for i in events.indices {
            guard case .response(let x, var head, let body, false, nil, false) = events[i].kind, body != .none else {
                continue
            }
            count += 1
            guard isMeant(count) else { continue }
            head.headers.append(Self.snappy)
            var coded = body
            if case .whole(let bytes) = body { coded = .whole(bytes.map { $0 ^ 0x55 }) }
            events[i].kind = .response(x: x, head, coded, interim: false, coding: nil, proxy: false)
        }
        return (plain, CodedTape.lines(events))
    }

    @Test func aPollThatCannotBeReadLeavesNoSessionToPlay() throws {
        let (plain, bytes) = try tape("recordings/chat-lp.tape.gz") { $0 == 4 }
        let read = try CodedTape.read(bytes)
        #expect(plain.sessions.allSatisfy { $0.obstacle == nil })
        #expect(read.sessions.compactMap(\.obstacle).count == 1 && read.undecoded.count == 1)
        #expect(try CodedTape.findings(bytes).contains { $0.contains("the answer's body cannot be decoded (snappy)") })
        let play = try Playbook(read.sessions.filter { $0.obstacle != nil })
        #expect(play.negotiate(plain.sessions[0].route) == nil)
        #expect(play.logs.joined().contains("has an answer that cannot be decoded: the coding 'snappy' is not known"))
        #expect(play.finish().verdict != .pass)
    }

    /// It gives no session: it is answered as it was.
    @Test func aNegotiationThatCannotBeReadIsAnsweredAsItWas() throws {
        let (plain, bytes) = try tape("recordings/chat-lp.tape.gz") { $0 == 1 }
        let read = try CodedTape.read(bytes)
        let body = try #require(plain.sessions[0].negotiate?.responseBody)
        let play = try Playbook(read.sessions, exchanges: read.exchanges)
        let target = try #require(plain.sessions[0].negotiate?.request.target)
        let c = play.request("POST", target)
        #expect(play.answers[c]?.body == body.map { $0 ^ 0x55 })
        #expect(play.answers[c]?.headers.contains(Self.snappy) == true)
    }

    @Test func anOperationInAnUnknownCodingIsAnsweredAsItWas() throws {
        let operation = #"{"query":"{ hello }"}"#
        let types = ["application/json", "multipart/mixed;boundary=graphql"]
        for type in types {
            let events = Self.operation(operation, type, "snappy", pieces: [[1, 2], [3]])
            let read = try CodedTape.read(CodedTape.lines(events))
            #expect(
                read.undecoded.map(\.text) == [
                    "the answer's body cannot be decoded (snappy): the coding 'snappy' is not known"
                ])
            let play = try Playbook(read.sessions, exchanges: read.exchanges)
            let c = play.request(
                "POST", "/graphql",
                [
                    HeaderField("Content-Type", "application/json"),
                    HeaderField("Accept", "application/json, multipart/mixed"),
                ],
                body: Array(operation.utf8))
            play.pass(ms: 100)
            #expect(play.answers[c]?.body == [1, 2, 3], "\(type): \(play.logs)")
            #expect(play.answers[c]?.headers.contains(Self.snappy) == true, "\(type)")
        }
    }

    @Test func aStreamThatIsDamagedInTheMiddleIsNotPlayed() throws {
        var coder = BodyCoder("br")
        let first =
            "\r\n--graphql\r\ncontent-type: application/json\r\n\r\n{\"payload\":{\"data\":{\"n\":1}}}\r\n--graphql"
        let operation = #"{"query":"subscription { n }"}"#
        let type = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0"
        let events = Self.operation(
            operation, type, "br", pieces: [coder.piece(Array(first.utf8)), [0xff, 0xff, 0xff], [1, 2, 3]])
        let bytes = CodedTape.lines(events)
        let read = try CodedTape.read(bytes)
        #expect(
            read.undecoded.map(\.text) == [
                "the rest of the answer's body cannot be decoded (br): the bytes are damaged, or of another coding"
            ])
        #expect(
            try CodedTape.findings(bytes).contains { $0.contains("the rest of the answer's body cannot be decoded") })
        let session = try #require(read.sessions.first)
        #expect(session.obstacle?.hasPrefix("has an answer that cannot be decoded") == true)
        let play = try Playbook(read.sessions, exchanges: read.exchanges)
        let c = play.request(
            "POST", "/graphql",
            [HeaderField("Content-Type", "application/json"), HeaderField("Accept", "\(type),application/json")],
            body: Array(operation.utf8))
        #expect(play.answers[c]?.status == 404)
        #expect(play.finish().verdict != .pass)
    }

    /// The recorder has taken the coding off the beginning and could not go on: what was received is on no tape.
    @Test func whatTheRecorderCouldNotDecodeToItsEndIsNotPlayed() throws {
        var events = Self.operation("", "text/plain", "gzip", pieces: [Array("begin".utf8), [0xff, 0xfe]])
        let headers = [HeaderField("Content-Type", "text/html"), HeaderField("Content-Encoding", "gzip")]
        events[2].kind = .response(
            x: 1, ResponseHead(status: 200, headers: headers), .streamed, interim: false, coding: "gzip", proxy: false)
        let mark = UndecodedBody.mark(connection: 1, exchange: 1, why: "the bytes are damaged, or of another coding")
        events.insert(TapeEvent(time: 0, connection: 0, .mark(mark)), at: 4)
        let bytes = CodedTape.lines(events)
        let wanted =
            "connection 1 exchange 1: the rest of the body stays encoded: the bytes are damaged, or of another coding"
        #expect(try CodedTape.findings(bytes).contains { $0.hasSuffix(wanted) })
        let read = try CodedTape.read(bytes)
        #expect(read.exchanges.map(\.isCut) == [true])
        let play = try Playbook(read.exchanges)
        let c = play.request("POST", "/graphql", [HeaderField("Content-Type", "application/json")])
        #expect(play.answers[c]?.status == 501)
        let canonical = try CodedTape.canonical(bytes)
        #expect(try CodedTape.findings(canonical).contains { $0.contains("the rest of the body stays encoded") })
    }

    private static func operation(
        _ body: String, _ type: String, _ codings: String, pieces: [[UInt8]]
    ) -> [TapeEvent] {
        let accept = HeaderField("Accept", "\(type),application/json")
        let head = RequestHead(
            method: "POST", target: "/graphql", headers: [HeaderField("Content-Type", "application/json"), accept])
        let answer = ResponseHead(
            status: 200, headers: [HeaderField("Content-Type", type), HeaderField("Content-Encoding", codings)])
        var kinds: [TapeEvent.Kind] = [
            .open(.init()), .request(x: 1, head, body.isEmpty ? .none : .whole(Array(body.utf8))),
            .response(x: 1, answer, .streamed, interim: false, coding: nil, proxy: false),
        ]
        kinds += pieces.map { .chunk(x: 1, .toClient, $0) }
        kinds.append(.end(x: 1, .toClient, trailers: []))
        return kinds.map { TapeEvent(time: 0, connection: 1, $0) }
    }
}
