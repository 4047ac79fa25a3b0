import Testing
import WiretapeBytes
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeWire

/// Canonical tapes of streams keep their messages one by one, with their times.
@Suite struct EventsCanonTests {
    @Test(arguments: [EventsTape.prices, EventsTape.tokens, EventsTape.lines, EventsTape.pieces, EventsTape.told])
    func messagesStayApart(_ script: String) throws {
        let plain = CodedTape.lines(EventsTape.events(script))
        let canonical = try CodedTape.canonical(plain)
        let before = try CodedTape.read(plain).sessions
        let after = try CodedTape.read(canonical).sessions
        #expect(after.map(\.said) == before.map(\.said) && after.map(\.codec.id) == ["events"])
        // A last line without its end comes with the end of the body.
        let late = zip(after[0].entries, before[0].entries).filter { $0.0.time != $0.1.time }
        #expect(late.count == (script.contains("lines") ? 1 : 0))
        #expect(try CodedTape.canonical(canonical) == canonical, "it is canonical already")
    }

    /// What the same server sends with a length stays one body, also one that is too long to stand inline; so does what a
    /// tape has whole.
    @Test(arguments: [10, 100_000]) func bodiesWithALengthStayWhole(_ count: Int) throws {
        for hasLength in [true, false] {
            let half = [UInt8](repeating: 97, count: count / 2)
            var headers = [HeaderField("Content-Type", "text/plain")]
            if hasLength { headers.append(HeaderField("Content-Length", "\(count)")) }
            let request = RequestHead(method: "GET", target: "/say")
            let body = hasLength ? TapeEvent.Body.streamed : .whole(half + half)
            var kinds: [TapeEvent.Kind] = [
                .open(.init()), .request(x: 1, request, .none),
                .response(
                    x: 1, ResponseHead(status: 200, headers: headers), body, interim: false, coding: nil, proxy: false),
            ]
            if hasLength {
                kinds += [
                    .chunk(x: 1, .toClient, half), .chunk(x: 1, .toClient, half), .end(x: 1, .toClient, trailers: []),
                ]
            }
            let plain = CodedTape.lines(kinds.map { TapeEvent(time: 1, connection: 1, $0) })
            let canonical = try CodedTape.canonical(plain)
            for tape in [plain, canonical] {
                let read = try CodedTape.read(tape)
                #expect(read.sessions.isEmpty && read.exchanges.count == 1, "\(count) \(hasLength)")
            }
            #expect(try CodedTape.canonical(canonical) == canonical)
        }
    }

    /// Codings of streams are removed before they are cut.
    @Test(arguments: ["gzip", "deflate", "br", "zstd", "gzip, br"])
    func codedStreamsAreReadAsTheyAreMeant(_ codings: String) throws {
        for script in [EventsTape.prices, EventsTape.lines, EventsTape.pieces] {
            let events = EventsTape.events(script)
            let plain = try CodedTape.read(CodedTape.lines(events)).sessions
            let coded = try CodedTape.read(CodedTape.lines(CodedTape.encoded(events, codings))).sessions
            #expect(coded.map(\.said) == plain.map(\.said))
            #expect(coded[0].entries.map(\.time) == plain[0].entries.map(\.time))
            let play = try Playbook(coded, speed: .instant)
            let c = play.events(coded[0].route)
            play.pass(ms: 1)
            let said = plain[0].entries.compactMap { entry -> String? in
                guard case .message(let message) = entry.what, message.direction == .toClient else { return nil }
                return String(decoding: message.bytes, as: UTF8.self)
            }
            #expect(play.take(c).dropFirst().dropLast().joined() == said.joined())
            #expect(play.answers[c]?.headers.first("Content-Encoding") == nil)
        }
    }
}
