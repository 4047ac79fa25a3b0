import Testing
import WiretapeBytes
import WiretapeCapture
internal import WiretapePackets
import WiretapeProtocol
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// Archives of other tools become tapes, and a tape that was one becomes the same tape again.
struct ArchiveTests {
    /// What an import made of the bytes of a file.
    struct Result {
        var events: [TapeEvent]
        var lines: [String]
        var report: ForeignReport

        init(
            _ bytes: [UInt8], _ format: ForeignImport.Format = .har, sides: [String: String] = [:],
            redacts: Bool = false
        ) throws {
            let source = ForeignMemory(bytes) { name, _ throws(CaptureFault) in sides[name].map { Array($0.utf8) } }
            let archive = ForeignImport(format, source, memory: 64 << 20)
            archive.scan { _ in }
            report = archive.report
            let sink = TapeBytes()
            let restored = archive.restored
            let tape = try CapturedTape(
                restored?.header ?? TapeHeader(started: "2026-01-01T00:00:00.000000Z"), line: restored?.line, origin: 0,
                to: sink, isCompressed: false, memory: 16 << 20, redaction: redacts ? TapeRedaction() : nil)
            try archive.write(to: tape, asIs: restored != nil && !redacts) { _ in }
            report = archive.report
            lines = String(decoding: sink.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            var reader = try TapeReader(bytes: sink.bytes, name: "archive.tape")
            events = []
            while let event = try reader.next() { events.append(event.event) }
        }

        func has(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    }

    static func entry(
        _ url: String, at second: Int = 0, method: String = "GET", status: Int = 200, headers: String = "",
        content: String = #"{"size":2,"mimeType":"application/json","text":"{}"}"#, more: String = ""
    ) -> String {
        #"{"startedDateTime":"2026-01-01T00:00:0\#(second).000Z","time":12,"request":{"method":"\#(method)","url":"\#(url)","#
            + #""httpVersion":"h2","headers":[{"name":":path","value":"/"},{"name":"accept","value":"*/*"}]},"#
            + #""response":{"status":\#(status),"statusText":"","headers":[\#(headers)],"content":\#(content)},"#
            + #""timings":{"blocked":1,"dns":-1,"connect":-1,"send":1,"wait":5,"receive":5}\#(more)}"#
    }

    static func har(_ entries: [String]) -> [UInt8] {
        Array(
            #"{"log":{"version":"1.2","creator":{"name":"test","version":"1"},"entries":[\#(entries.joined(separator: ",\n"))]}}"#
                .utf8)
    }

    // MARK: HAR

    @Test func exchangesStandAtTheirTimes() throws {
        let result = try Result(
            Self.har([
                Self.entry("https://a.example/x?y=1#z", at: 1),
                Self.entry(
                    "https://a.example/first",
                    headers: #"{"name":"content-encoding","value":"br"},{"name":"set-cookie","value":"a=1\nb=2"}"#),
            ]))
        let kinds = result.lines.dropFirst().map {
            $0.split(separator: "\"e\":\"").last?.split(separator: "\"").first ?? ""
        }
        #expect(kinds == ["open", "request", "response", "request", "response", "stop"])
        #expect(result.events[1].time == 0)
        #expect(result.events[2].time == 6_000_000)
        #expect(result.events[3].time == 1_000_000_000)
        guard case .request(2, let head, _) = result.events[3].kind else {
            Issue.record("no request")
            return
        }
        #expect(head.target == "/x?y=1")
        #expect(head.headers == [HeaderField("Host", "a.example"), HeaderField("accept", "*/*")])
        guard case .response(1, let answer, .whole(let body), _, "br", _) = result.events[2].kind else {
            Issue.record("no answer")
            return
        }
        #expect(answer.headers.all("set-cookie") == ["a=1", "b=2"])
        #expect(body == Array("{}".utf8))
        #expect(result.report.servers.map(\.url) == ["https://a.example:443"])
    }

    /// Chrome tells seconds, Playwright milliseconds.
    @Test(arguments: [1.0, 1_000.0]) func webSocketMessagesKeepTheirTimes(unit: Double) throws {
        let time = { (seconds: Double) in "\((1_767_225_600 + seconds) * unit)" }
        let messages =
            #","_webSocketMessages":[{"type":"send","time":\#(time(0.5)),"opcode":1,"data":"hé"},"#
            + #"{"type":"receive","time":\#(time(0.75)),"opcode":2,"data":"AP8="},{"type":"receive","time":-1,"opcode":1,"data":"x"}]"#
        let result = try Result(Self.har([Self.entry("wss://a.example/ws", status: 101, more: messages)]))
        let said = result.events.compactMap { event -> (UInt64, [UInt8])? in
            guard case .message(_, _, let bytes, _, _) = event.kind else { return nil }
            return (event.time, bytes)
        }
        #expect(said.map(\.1) == [Array("hé".utf8), [0, 0xff], Array("x".utf8)])
        // The request came a millisecond after the entry began.
        #expect(said.map(\.0) == [499_000_000, 749_000_000, 749_000_000])
        #expect(result.has("how the WebSocket was closed"))
        #expect(result.has("when the WebSocket's messages were said"))
        #expect(!result.lines.contains { $0.contains(#""e":"close""#) || $0.contains(#""e":"gone""#) })
    }

    @Test func messagesStandInSideFiles() throws {
        let entry = Self.entry(
            "ws://a.example/ws", status: -1, content: #"{"size":-1,"mimeType":"x-unknown","_file":"m.jsonl"}"#,
            more: #","_resourceType":"websocket""#)
        let lines =
            #"{"type":"send","time":1767225600500,"opcode":1,"data":"one"}"# + "\n"
            + #"{"type":"receive","time":1767225600600,"opcode":1,"data":"two"}"#
        let result = try Result(Self.har([entry]), sides: ["m.jsonl": lines])
        #expect(result.has(#""d":">","op":"text","text":"one""#))
        #expect(result.has(#""d":"<","op":"text","text":"two""#))
        #expect(result.has(#""status":101"#))
        #expect(throws: CaptureFault.self) { try throwing(Self.har([entry])) }
    }

    /// A socket that was let in is 101 whatever its entry says, one that was refused keeps its number, and no tape has a number that is none.
    @Test func aSocketHasTheStatusOfAnAnswer() throws {
        func socket(_ status: Int) -> [UInt8] {
            Self.har([
                Self.entry(
                    "ws://a.example/ws", status: status, more: #","_resourceType":"websocket","_webSocketMessages":[]"#)
            ])
        }
        for status in [-1, 0, 99, 200] {
            let result = try Result(socket(status))
            #expect(result.report.fault == nil, "\(status)")
            #expect(result.has(#""status":101"#), "\(status)")
        }
        #expect(try Result(socket(503)).has(#""status":503"#))
        for status in [1_000, 6_971] {
            #expect(throws: CaptureFault.self, "\(status)") { try throwing(socket(status)) }
        }
    }

    private func throwing(_ bytes: [UInt8]) throws {
        let archive = ForeignImport(.har, ForeignMemory(bytes), memory: 64 << 20)
        archive.scan { _ in }
        if let fault = archive.report.fault { throw fault }
    }

    @Test func eventStreamsAreCutBehindEachEvent() throws {
        let stream =
            #"{"size":1,"mimeType":"text/event-stream","text":"data: 1\n\nevent: a\r\ndata: 2\r\n\r\n: c\n\n"}"#
        let type = #"{"name":"content-type","value":"text/event-stream"}"#
        let plain = try Result(Self.har([Self.entry("http://a/e", headers: type, content: stream)]))
        #expect(plain.has(#""text":"data: 1\n\n""#))
        #expect(plain.has(#""text":"event: a\r\ndata: 2\r\n\r\n""#))
        #expect(plain.has("when each event came"))
        let told =
            #","_eventSourceMessages":[{"time":1767225602,"eventName":"message","eventId":"","data":"1"},{"time":1767225603,"eventName":"a","eventId":"","data":"2"}]"#
        let timed = try Result(Self.har([Self.entry("http://a/e", headers: type, content: stream, more: told)]))
        let chunks = timed.events.filter { if case .chunk = $0.kind { true } else { false } }
        #expect(chunks.map(\.time) == [1_999_000_000, 2_999_000_000, 2_999_000_000])
        #expect(!timed.has("when each event came"))
    }

    @Test func whatAnArchiveLacksIsTold() throws {
        let result = try Result(
            Self.har([
                Self.entry("http://a/image", content: #"{"size":900,"mimeType":"image/png"}"#),
                Self.entry("http://a/lost", at: 1, status: 0, more: #","_x":1"#),
                Self.entry("data:image/png;base64,AAAA", at: 2),
            ]))
        #expect(result.has("does not hold the answer's body"))
        #expect(result.has("has no answer to this request"))
        #expect(result.report.notes.contains { $0.text.contains("not of http") })
    }

    @Test func secretsDoNotReachTheTape() throws {
        let entry = Self.entry(
            "http://a/x?access_token=verysecretvalue1",
            headers: #"{"name":"Set-Cookie","value":"sid=verysecretvalue2"}"#)
        let result = try Result(Self.har([entry]), redacts: true)
        #expect(!result.has("verysecret"))
        #expect(try Result(Self.har([entry])).has("verysecretvalue2"))
    }

    @Test func faultsNameTheirPlace() throws {
        let whole = Self.har([Self.entry("http://a/x"), Self.entry("http://a/y", at: 1)])
        func fault(_ bytes: [UInt8]) -> CaptureFault? {
            let archive = ForeignImport(.har, ForeignMemory(bytes), memory: 64 << 20)
            archive.scan { _ in }
            return archive.report.fault
        }
        #expect(fault(whole) == nil)
        #expect(fault(Array(whole.dropLast(10)))?.reason == "the file ends within the JSON text")
        let bad = Self.har([
            Self.entry("http://a/x"), #"{"request":{"url":"http://a/"},"startedDateTime":"yesterday"}"#,
        ])
        #expect(fault(bad)?.reason.contains("entry 2: startedDateTime") == true)
        #expect((fault(bad)?.offset ?? 0) > 300)
        // What stands before is kept.
        #expect(try Result(bad).report.exchanges == 1)
        #expect(fault(Array(#"{"log":{"entries":{}}}"#.utf8))?.offset == 18)
    }

    // MARK: Round trip

    private static let tape = """
        {"tape":1,"started":"2026-11-20T17:28:00.123456Z","tool":"wiretape/0.1.0","mode":"reverse","upstreams":{"main":"http://127.0.0.1:5000"},"redaction":"default","later":true}
        # a comment
        {"t":0,"c":1,"e":"open","from":"127.0.0.1:4000","to":"127.0.0.1:80","upstream":"main"}
        {"t":5,"c":1,"e":"request","x":1,"method":"POST","target":"/b?é=1","headers":[["Host","a"],["X","\\u00e9"]],"b64":"AP8="}
        {"t":6,"c":2,"e":"open","from":"127.0.0.1:4001","upstream":"main","new":[1]}
        {"t":7,"c":2,"e":"request","x":1,"method":"GET","target":"/ws","headers":[["Upgrade","websocket"]]}
        {"t":8,"c":1,"e":"response","x":1,"status":200,"headers":[["Content-Encoding","gzip"]],"text":"a\\nb","coding":"gzip"}
        {"t":9,"c":2,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}
        {"t":10,"c":2,"e":"message","d":">","op":"text","text":"hé","deflated":true}
        {"t":10,"c":2,"e":"part","d":"<","op":"text","n":0,"b64":"w6k="}
        {"t":11,"c":2,"e":"ping","d":"<","text":"p"}
        {"t":12,"c":2,"e":"part","d":"<","op":"text","n":1,"text":"end","last":true}
        {"t":13,"c":2,"e":"message","d":"<","op":"text","json":{"a": 1}}
        {"t":14,"c":2,"e":"message","d":"<","op":"binary","b64":"AAEC","frames":[1,2]}
        {"t":15,"c":1,"e":"request","x":2,"method":"GET","target":"/e","headers":[]}
        {"t":16,"c":1,"e":"response","x":2,"status":200,"headers":[["Content-Type","text/event-stream"]],"stream":true}
        {"t":17,"c":1,"e":"chunk","x":2,"d":"<","text":"data: 1"}
        {"t":18,"c":1,"e":"mark","text":"here"}
        {"t":19,"c":1,"e":"chunk","x":2,"d":"<","text":"\\n\\n"}
        {"t":20,"c":2,"e":"close","d":"<","code":1000,"reason":"bye"}
        {"t":21,"c":2,"e":"gone","by":"server","how":"fin"}
        {"t":22,"c":1,"e":"gone","by":"client","how":"rst"}
        {"t":23,"e":"later","what":{"is":"this"}}
        {"t":24,"e":"stop","events":21,"connections":2}
        """

    @Test func whatWasExportedComesBack() throws {
        let archive = try Self.exported(Self.tape)
        let value = try JSONValue(parsing: archive)
        let entries = value["log"]?["entries"]?.array ?? []
        #expect(entries.count == 3)
        let socket = entries.first { $0["_webSocketMessages"] != nil }
        #expect(
            socket?["_webSocketMessages"]?.array?.compactMap { $0["data"]?.string } == [
                "hé", "éend", #"{"a":1}"#, "AAEC",
            ])
        #expect(entries.first { $0["_eventSourceMessages"] != nil }?["_eventSourceMessages"]?.array?.count == 1)
        let back = try Result(archive)
        #expect(back.report.isRestored)
        let before = try Self.values(Self.tape.split(separator: "\n").map(String.init))
        let after = try Self.values(back.lines)
        for (a, b) in zip(before, after) { #expect(a == b) }
        #expect(before.count == after.count)
    }

    /// Lines without what order their members have; comments as they are.
    private static func values(_ lines: [String]) throws -> [String] {
        try lines.map { line in
            guard !line.hasPrefix("#") else { return line }
            let members = try JSONValue(parsing: line).members ?? []
            return JSONValue.object(members.sorted { $0.name < $1.name }).text
        }
    }

    private static func exported(_ text: String) throws -> [UInt8] {
        var reader = try TapeLineReader(bytes: Array(text.utf8) + [0x0a], name: "x.tape")
        var out: [UInt8] = []
        let export = HARExport(maker: "test", memory: 64 << 20) { out.append(copying: $0) }
        while let line = try reader.next() { try export.take(line) }
        try export.finish()
        return out
    }

    /// An entry of ours that was taken away, or one of another tool that came in.
    @Test func whatWasChangedIsReadAsAnyArchive() throws {
        let archive = String(decoding: try Self.exported(Self.tape), as: UTF8.self)
        let mixed = archive.replacing(#""entries":["#, with: #""entries":[\#(Self.entry("http://a/new")),"#)
        let result = try Result(Array(mixed.utf8))
        #expect(!result.report.isRestored)
        #expect(result.report.exchanges == 4)
        #expect(result.has(#""target":"/new""#))
    }

    /// Tapes that no recorder writes: two upgrades on one connection, and a connection that is opened again before it has ended.
    @Test(arguments: [
        #"{"t":5,"c":1,"e":"mark","text":"again"}"#, #"{"t":5,"c":1,"e":"open","upstream":"main"}"#,
    ]) func nothingOfAConnectionIsLeftOut(_ between: String) throws {
        let upgrade = #""method":"GET","target":"/ws","headers":[["Host","h"]]}"#
        let answer = #""status":101,"headers":[["Upgrade","websocket"],["Connection","Upgrade"]]}"#
        let tape = [
            #"{"tape":1,"started":"2026-01-01T00:00:00.000000Z","tool":"t","mode":"reverse","upstreams":{"main":"http://h:80"},"redaction":"none"}"#,
            #"{"t":1,"c":1,"e":"open","upstream":"main"}"#,
            #"{"t":2,"c":1,"e":"request","x":1,"# + upgrade, #"{"t":3,"c":1,"e":"response","x":1,"# + answer,
            #"{"t":4,"c":1,"e":"message","d":">","op":"text","text":"one"}"#, between,
            #"{"t":6,"c":1,"e":"request","x":2,"# + upgrade, #"{"t":7,"c":1,"e":"response","x":2,"# + answer,
            #"{"t":8,"c":1,"e":"message","d":"<","op":"text","text":"two"}"#,
            #"{"t":9,"e":"stop","events":8,"connections":1}"#,
        ]
        let back = try Result(try Self.exported(tape.joined(separator: "\n")))
        #expect(back.report.isRestored)
        #expect(try Self.values(back.lines) == Self.values(tape))
    }

    /// Behind a 101 no request follows on its connection, whatever the archive calls what was said there.
    @Test func anUpgradedConnectionIsNotUsedAgain() throws {
        for (status, connections) in [(200, 1), (101, 2)] as [(Int, UInt64)] {
            let result = try Result(
                Self.har([Self.entry("http://a/one", status: status), Self.entry("http://a/two", at: 5)]))
            #expect(result.report.connections == connections, "\(result.lines)")
        }
    }

    /// An entry of ours that was taken away leaves a hole in the numbers, and is missed.
    @Test func whatWasTakenAwayIsMissed() throws {
        let archive = String(decoding: try Self.exported(Self.tape), as: UTF8.self)
        let begin = try #require(archive.firstRange(of: #""entries":["#)?.upperBound)
        let next = try #require(archive[begin...].firstRange(of: ",\n{\"startedDateTime\""))
        let result = try Result(Array((archive[..<begin] + archive[archive.index(after: next.lowerBound)...]).utf8))
        #expect(!result.report.isRestored)
        #expect(result.report.notes.contains { $0.text.contains("are missing in it") }, "\(result.report.notes)")
    }

    /// A line of ours whose time somebody has changed: no tape has it behind a later one.
    @Test func linesFromBeforeTheOnesBeforeThemAreRefused() throws {
        let archive = String(decoding: try Self.exported(Self.tape), as: UTF8.self)
        let bent = archive.replacing(#""t":20,"#, with: #""t":2,"#)
        #expect(bent != archive)
        #expect(throws: CaptureFault.self) { try Result(Array(bent.utf8)) }
    }

    // MARK: Flows

    @Test func flowsTellNearlyAll() throws {
        let result = try Result(Self.flow(), .flows)
        #expect(result.has(#""from":"127.0.0.1:52000""#))
        #expect(result.has(#""method":"GET","target":"/ws?x=1""#))
        #expect(result.has(#""op":"binary","text":"\u0000"#))
        #expect(result.has(#""e":"close","d":"<","code":4001,"reason":"gone""#))
        #expect(try Result(Self.flow(version: 19), .flows).report.exchanges == 1)
        let old = ForeignImport(.flows, ForeignMemory(Self.flow(version: 18)), memory: 64 << 20)
        old.scan { _ in }
        #expect(old.report.fault?.reason.contains("mitmdump -n -r OLD -w NEW") == true)
    }

    static func flow(version: Int = 21) -> [UInt8] {
        func net(_ text: String, _ tag: String) -> String { "\(text.utf8.count):\(text)\(tag)" }
        func pairs(_ items: [(String, String)]) -> String { net(items.map { net($0.0, ";") + $0.1 }.joined(), "}") }
        func list(_ items: [String]) -> String { net(items.joined(), "]") }
        func fields(_ items: [(String, String)]) -> String {
            list(items.map { list([net($0.0, ","), net($0.1, ",")]) })
        }
        func number(_ value: String) -> String { net(value, "^") }
        let request = pairs([
            ("host", net("a.example", ";")), ("port", net("80", "#")), ("method", net("GET", ",")),
            ("scheme", net("http", ",")),
            ("authority", net("", ",")), ("path", net("/ws?x=1", ",")), ("http_version", net("HTTP/1.1", ",")),
            ("headers", fields([("Upgrade", "websocket")])), ("content", net("", ",")), ("trailers", net("", "~")),
            ("timestamp_start", number("1767225600.5")), ("timestamp_end", number("1767225600.6")),
        ])
        let response = pairs([
            ("status_code", net("101", "#")), ("reason", net("Switching Protocols", ",")), ("content", net("", ",")),
            ("headers", fields([("Upgrade", "websocket")])), ("timestamp_start", number("1767225600.7")),
        ])
        let binary = list([
            net("2", "#"), net("true", "!"), net("\u{0}\u{7f}", ","), number("1767225601.5"), net("false", "!"),
            net("false", "!"),
        ])
        let full = pairs([
            ("messages", list([binary])), ("closed_by_client", net("false", "!")), ("close_code", net("4001", "#")),
            ("close_reason", net("gone", ";")), ("timestamp_end", number("1767225602.5")),
        ])
        let flow = pairs([
            ("version", net("\(version)", "#")), ("type", net("http", ";")), ("request", request),
            ("response", response),
            (
                "client_conn",
                pairs([("id", net("c1", ";")), ("peername", list([net("127.0.0.1", ";"), net("52000", "#")]))])
            ),
            ("websocket", full), ("error", net("", "~")),
        ])
        return Array(flow.utf8)
    }

    // MARK: Stubs

    @Test func stubsBecomeExchanges() throws {
        let hoverfly = #"""
            {"data":{"pairs":[{"request":{"method":[{"matcher":"exact","value":"GET"}],"destination":[{"matcher":"exact","value":"a.example"}],
            "path":[{"matcher":"exact","value":"/v"}],"query":{"q":[{"matcher":"exact","value":"1 2"}]}},
            "response":{"status":200,"body":"aGk=","encodedBody":true,"headers":{"Content-Type":["text/plain"]},"fixedDelay":20}},
            {"request":{"path":[{"matcher":"glob","value":"/*"}],"destination":[{"matcher":"exact","value":"a"}]},"response":{"status":200,"body":""}}]},
            "meta":{"schemaVersion":"v5.2"}}
            """#
        let a = try Result(Array(hoverfly.utf8), .hoverfly)
        #expect(a.has(#""target":"/v?q=1+2""#))
        #expect(a.has(#""t":20000000,"c":1,"e":"response""#))
        #expect(a.has(#""text":"hi""#))
        #expect(a.report.notes.map(\.text) == ["left out: a stub whose path is a pattern"])
        let wiremock = #"""
            {"mappings":[{"request":{"method":"POST","url":"/x","bodyPatterns":[{"equalToJson":"{\"a\":1}"}]},
            "response":{"status":201,"jsonBody":{"b":[1,2]}}},{"request":{"urlPattern":"/.*"},"response":{"status":200}}]}
            """#
        let b = try Result(Array(wiremock.utf8), .wiremock)
        #expect(b.has(#""text":"{\"a\":1}""#))
        #expect(b.has(#""text":"{\"b\":[1,2]}""#))
        #expect(b.report.notes.map(\.text) == ["left out: a stub whose URL is a pattern"])
    }

    // MARK: Damage

    /// A mutated file gives a fault with a place or a tape that can be read to its end; in neither case a trap.
    @Test(arguments: [ForeignImport.Format.har, .flows]) func damagedFilesAreToldOrRead(_ format: ForeignImport.Format)
        throws
    {
        let entries = [
            Self.entry("http://a/x"),
            Self.entry(
                "ws://a/ws", at: 1, status: 101,
                more: #","_webSocketMessages":[{"type":"send","time":1767225601.5,"opcode":1,"data":"x"}]"#),
        ]
        let whole = format == .har ? Self.har(entries) : Self.flow() + Self.flow(version: 20)
        var random = SplitMix64(seed: 0x4a7 ^ UInt64(whole.count))
        for _ in 0..<1_500 {
            var bytes = whole
            for _ in 0...random.below(3) {
                let at = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.removeSubrange(at..<min(bytes.count, at + 1 + random.below(20)))
                case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 1 + random.below(20))], at: at)
                default: bytes.removeSubrange(at...)
                }
                if bytes.isEmpty { bytes = [0x7b] }
            }
            do {
                _ = try Result(bytes, format)
            } catch is CaptureFault {}
        }
    }
}
