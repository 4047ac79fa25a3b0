import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// Every kind with its line, as `docs/tape-format.md` has it.
let goldenLines: [(event: TapeEvent, line: String)] = [
    (
        .init(
            time: 1, connection: 1,
            .open(
                .init(
                    from: "127.0.0.1:9", to: "127.0.0.1:80", upstream: "main",
                    tls: .init(version: "1.3", alpn: "http/1.1", sni: "a"), session: "ada"))),
        #"{"t":1,"c":1,"e":"open","from":"127.0.0.1:9","to":"127.0.0.1:80","upstream":"main","tls":{"version":"1.3","alpn":"http/1.1","sni":"a"},"session":"ada"}"#
    ),
    (.init(time: 1, connection: 2, .open(.init(tls: .init()))), #"{"t":1,"c":2,"e":"open","tls":{}}"#),
    (
        .init(
            time: 2, connection: 1,
            .request(
                x: 1,
                .init(
                    method: "POST", target: "/chat?a=\"b\"", headers: [.init("Host", "x"), .init("X-\u{e9}", "")]),
                .whole(Array("{}".utf8)))),
        #"{"t":2,"c":1,"e":"request","x":1,"method":"POST","target":"/chat?a=\"b\"","headers":[["Host","x"],["X-é",""]],"text":"{}"}"#
    ),
    (
        .init(time: 2, connection: 1, .request(x: 2, .init(method: "GET", target: "/", version: "1.0"), .streamed)),
        #"{"t":2,"c":1,"e":"request","x":2,"method":"GET","target":"/","headers":[],"stream":true,"version":"1.0"}"#
    ),
    (
        .init(
            time: 3, connection: 1,
            .response(
                x: 1, .init(status: 200, reason: "OK", headers: [.init("A", "b")]), .whole([0xff, 0xfe]),
                interim: false, coding: "gzip", proxy: false)),
        #"{"t":3,"c":1,"e":"response","x":1,"status":200,"headers":[["A","b"]],"b64":"//4=","reason":"OK","coding":"gzip"}"#
    ),
    (
        .init(
            time: 3, connection: 1,
            .response(x: 1, .init(status: 502), .none, interim: false, coding: nil, proxy: true)),
        #"{"t":3,"c":1,"e":"response","x":1,"status":502,"headers":[],"by":"proxy"}"#
    ),
    (
        .init(
            time: 3, connection: 1,
            .response(x: 1, .init(status: 103, version: "1.0"), .none, interim: true, coding: nil, proxy: false)),
        #"{"t":3,"c":1,"e":"response","x":1,"status":103,"headers":[],"version":"1.0","interim":true}"#
    ),
    (
        .init(time: 4, connection: 1, .chunk(x: 1, .toClient, Array("data: 1\n\n".utf8))),
        #"{"t":4,"c":1,"e":"chunk","x":1,"d":"<","text":"data: 1\n\n"}"#
    ),
    (.init(time: 5, connection: 1, .end(x: 1, .toServer, trailers: [])), #"{"t":5,"c":1,"e":"end","x":1,"d":">"}"#),
    (
        .init(time: 5, connection: 1, .end(x: 1, .toClient, trailers: [.init("T", "1"), .init("U", "2")])),
        #"{"t":5,"c":1,"e":"end","x":1,"d":"<","trailers":[["T","1"],["U","2"]]}"#
    ),
    (
        .init(
            time: 6, connection: 1, .message(.toServer, .text, Array("a\u{1e}".utf8), deflated: false, fragments: [])),
        #"{"t":6,"c":1,"e":"message","d":">","op":"text","text":"a\u001e"}"#
    ),
    (
        .init(time: 6, connection: 1, .message(.toClient, .binary, [0x80], deflated: true, fragments: [0, 1])),
        #"{"t":6,"c":1,"e":"message","d":"<","op":"binary","b64":"gA==","deflated":true,"frames":[0,1]}"#
    ),
    (
        .init(time: 7, connection: 1, .part(.toServer, .text, n: 0, Array("x".utf8), last: false)),
        #"{"t":7,"c":1,"e":"part","d":">","op":"text","n":0,"text":"x"}"#
    ),
    (
        .init(time: 7, connection: 1, .part(.toServer, .binary, n: 1, [], last: true)),
        #"{"t":7,"c":1,"e":"part","d":">","op":"binary","n":1,"text":"","last":true}"#
    ),
    (.init(time: 8, connection: 1, .ping(.toServer, [])), #"{"t":8,"c":1,"e":"ping","d":">","text":""}"#),
    (.init(time: 8, connection: 1, .pong(.toClient, [1])), #"{"t":8,"c":1,"e":"pong","d":"<","text":"\u0001"}"#),
    (
        .init(time: 9, connection: 1, .close(.toClient, code: 1000, reason: "bye")),
        #"{"t":9,"c":1,"e":"close","d":"<","code":1000,"reason":"bye"}"#
    ),
    (.init(time: 9, connection: 1, .close(.toServer, code: nil, reason: nil)), #"{"t":9,"c":1,"e":"close","d":">"}"#),
    (
        .init(time: 10, connection: 1, .gone(by: .server, how: .rst, why: "reset")),
        #"{"t":10,"c":1,"e":"gone","by":"server","how":"rst","why":"reset"}"#
    ),
    (
        .init(time: 10, connection: 1, .fault(rule: "cut", action: "reset", reference: 7, delivered: 3)),
        #"{"t":10,"c":1,"e":"fault","rule":"cut","action":"reset","ref":7,"delivered":3}"#
    ),
    (
        .init(time: 10, connection: 1, .fault(rule: "cut", action: "reset", reference: nil, delivered: nil)),
        #"{"t":10,"c":1,"e":"fault","rule":"cut","action":"reset"}"#
    ),
    (.init(time: 11, connection: 0, .mark("here")), #"{"t":11,"e":"mark","text":"here"}"#),
    (.init(time: 0, connection: 0, .take(started: "S")), #"{"t":0,"e":"take","started":"S"}"#),
    (.init(time: 12, connection: 0, .gap(lost: 5)), #"{"t":12,"e":"gap","lost":5}"#),
    (
        .init(time: .max, connection: 0, .stop(events: 30, connections: 2, level: 1)),
        #"{"t":18446744073709551615,"e":"stop","events":30,"connections":2,"level":1}"#
    ),
    (.init(time: 13, connection: 4, .unknown("new")), #"{"t":13,"c":4,"e":"new"}"#),
]

struct TapeLinesTests {
    @Test(arguments: goldenLines.indices) func eachKindHasItsLine(index: Int) {
        let (event, line) = goldenLines[index]
        var out: [UInt8] = []
        TapeLines.append(event, into: &out)
        #expect(String(decoding: out, as: UTF8.self) == line + "\n")
        #expect((try? JSONValue(parsing: line)) != nil)
    }

    /// Control characters would be six bytes each: base64 is shorter, and what is read back is the same.
    @Test func textOfControlCharactersIsBase64WhereThatIsShorter() throws {
        let zeros = [UInt8](repeating: 0, count: 1_025)
        let lines = Array(String(repeating: "a\n\tb\r\n", count: 1_000).utf8)
        let records = Array(String(repeating: "{\"type\":6}\u{1e}", count: 1_000).utf8)
        for (payload, isText) in [(zeros, false), (Array(zeros.dropLast()), true), (lines, true), (records, true)] {
            var line: [UInt8] = []
            let event = TapeEvent(
                time: 5, connection: 1, .message(.toClient, .text, payload, deflated: false, fragments: []))
            TapeLines.append(event, into: &line)
            let text = String(decoding: line, as: UTF8.self)
            #expect(
                text.contains(isText ? #""text":"# : #""b64":"#) && !text.contains(isText ? #""b64":"# : #""text":"#))
            #expect(isText || line.count < payload.count * 4 / 3 + 100)
        }
    }

    @Test func theHeaderHasItsLine() {
        let header = TapeHeader(
            started: "2026-11-20T17:28:00.123456Z", tool: "wiretape/0.1.0", mode: "reverse",
            upstreams: [("main", "http://127.0.0.1:5000"), ("b", "http://b")], redaction: "none")
        var out: [UInt8] = []
        TapeLines.appendHeader(header, into: &out)
        TapeLines.appendHeader(TapeHeader(protocolID: "signalr", route: "/chat"), into: &out)
        #expect(
            String(decoding: out, as: UTF8.self) == """
                {"tape":1,"started":"2026-11-20T17:28:00.123456Z","tool":"wiretape/0.1.0","mode":"reverse",\
                "upstreams":{"main":"http://127.0.0.1:5000","b":"http://b"},"redaction":"none"}
                {"tape":1,"protocol":"signalr","route":"/chat"}

                """)
    }
}
