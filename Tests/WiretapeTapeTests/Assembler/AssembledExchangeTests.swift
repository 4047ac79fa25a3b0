import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder

/// HTTP exchanges on their way to the tape.
@Suite struct AssembledExchangeTests {
    private func stream(
        _ head: String, pieces: [(at: UInt64, [UInt8])], end: UInt64?
    ) -> [String] {
        var stream = RecordStream()
        stream.open()
        stream.add(.request, x: 1, Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        stream.add(.bodyEnd, x: 1)
        stream.add(.response, flags: RecordFlags.toClient, x: 1, at: 1_000_000, Array(head.utf8))
        for (at, piece) in pieces { stream.add(.body, flags: RecordFlags.toClient, x: 1, at: at, piece) }
        if let end { stream.add(.bodyEnd, flags: RecordFlags.toClient, x: 1, at: end) }
        stream.add(.tick, at: 900_000_000)
        return Array(stream.lines().dropFirst(2))
    }

    private let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func quickBodiesStandInline() {
        let lines = stream(head, pieces: [(1_000_000, [97]), (2_000_000, [98])], end: 5_000_000)
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""text":"ab""#))
    }

    /// A body in pieces is a stream, however quick: each piece stays by itself.
    @Test(arguments: ["Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n", "Connection: close\r\n"])
    func quickPiecesStayApart(fields: String) {
        let pieces: [(at: UInt64, [UInt8])] = [(1_000_000, [97]), (1_000_000, [98])]
        let lines = stream("HTTP/1.1 200 OK\r\n\(fields)\r\n", pieces: pieces, end: 1_000_000)
        #expect(lines.count == 4)
        #expect(lines[1].contains(#""text":"a""#) && lines[2].contains(#""text":"b""#))
    }

    @Test func slowBodiesAreStreamed() {
        let lines = stream(head, pieces: [(1_000_000, [97]), (7_000_001, [98])], end: 8_000_000)
        #expect(lines.count == 4)
        #expect(lines[0].contains(#""stream":true"#))
        #expect(lines[1] == #"{"c":1,"e":"chunk","x":1,"d":"<","text":"a"}"#)
        #expect(lines[3] == #"{"c":1,"e":"end","x":1,"d":"<"}"#)
    }

    /// A client answers the first event at once, over another connection: the tape has them in that order.
    @Test(arguments: ["text/event-stream", "Multipart/mixed; boundary=-"])
    func whatAPieceCausedStandsBehindIt(type: String) throws {
        var stream = RecordStream()
        stream.open()
        stream.add(.open, connection: 2, OpenRecord.encode(.init(upstream: "main")))
        stream.add(.request, x: 1, Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        stream.add(.bodyEnd, x: 1)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n"
        stream.add(.response, flags: RecordFlags.toClient, x: 1, at: 1_000_000, Array(head.utf8))
        stream.add(.body, flags: RecordFlags.toClient, x: 1, at: 1_000_000, Array("event".utf8))
        stream.add(.request, x: 1, at: 1_500_000, connection: 2, Array("POST /send HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        stream.add(.bodyEnd, x: 1, at: 1_500_000, connection: 2)
        stream.add(.tick, at: 900_000_000)
        let lines = stream.lines()
        let event = try #require(lines.firstIndex { $0.contains("event\"}") })
        let answer = try #require(lines.firstIndex { $0.contains("/send") })
        #expect(event < answer)
    }

    @Test func largeBodiesAreStreamed() {
        let piece = [UInt8](repeating: 97, count: 40_000)
        let lines = stream(head, pieces: [(1_000_000, piece), (1_000_000, piece)], end: 1_000_000)
        #expect(lines.count == 4)
    }

    @Test func aHeadWithoutABodyYetIsWrittenInTime() {
        let lines = stream(head, pieces: [], end: nil)
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""stream":true"#))
    }

    @Test(arguments: [true, false]) func codingsAreRemoved(isInline: Bool) {
        var deflater = Deflater(windowBits: 15)
        var packed: [UInt8] = []
        let text = "the same, the same, the same, the same"
        _ = deflater.append(Array(text.utf8).span, flush: .sync, into: &packed)
        // A raw stream needs an end to be whole.
        packed += [3, 0]
        let coded = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n"
        let half = packed.count / 2
        let times: (UInt64, UInt64) = isInline ? (1_000_000, 1_500_000) : (1_000_000, 90_000_000)
        let lines = stream(
            coded, pieces: [(times.0, Array(packed[..<half])), (times.1, Array(packed[half...]))], end: times.1)
        #expect(lines[0].contains(#""coding":"deflate""#))
        let body = lines.joined().split(separator: #""text":""#).dropFirst().map { $0.prefix { $0 != "\"" } }.joined()
        #expect(body == text)
    }

    /// Several lines, or a list on one, are several codings: none of them is removed.
    @Test(arguments: [
        "Content-Encoding: gzip\r\nContent-Encoding: br", "Content-Encoding: br, gzip", "Content-Encoding: br",
    ])
    func listsAndOtherCodingsStay(_ fields: String) {
        for time: UInt64 in [1_500_000, 90_000_000] {
            let lines = stream(
                "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n", pieces: [(time, Array("as it came".utf8))], end: time)
            #expect(!lines[0].contains(#""coding""#))
            #expect(lines.joined().contains(#""text":"as it came""#))
            #expect(!lines.joined().contains("stays encoded"))
        }
    }

    @Test func damagedCodingsStayAsReceived() {
        let coded = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
        let lines = stream(coded, pieces: [(1_000_000, Array("no gzip".utf8))], end: 1_000_000)
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""text":"no gzip""#))
        #expect(!lines[0].contains(#""coding""#))
    }
}
