import Testing
import WiretapeBytes
import WiretapeWire

struct MultipartReaderTests {
    enum Heard: Equatable {
        case part([String], String)
        case tooLong
        case end
    }

    static func hear(_ pieces: [[UInt8]], boundary: String = "graphql", limit: Int = 1 << 20) -> [Heard] {
        var reader = MultipartReader(boundary: Array(boundary.utf8), limit: limit)
        var heard: [Heard] = []
        for piece in pieces {
            var at = 0
            feed: while true {
                switch reader.feed(piece.span, from: at) {
                case .more: break feed
                case .part(let part, let next):
                    let headers = part.headers.map { "\($0.name)=\($0.value)" }
                    heard.append(.part(headers, String(decoding: part.body, as: UTF8.self)))
                    at = next
                case .tooLong(let next):
                    heard.append(.tooLong)
                    at = next
                case .end(let next):
                    heard.append(.end)
                    at = next
                }
            }
        }
        return heard
    }

    static let json = ["content-type=application/json"]

    /// As Apollo's router writes it.
    static let router = Array(
        """
        \r\n--graphql\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql\r\ncontent-type: application/json\r\n\r\n\
        {"payload":{"data":{"tick":"--graph\\r\\n--"}}}\r\n--graphql--\r\nbehind\r\n--graphql\r\n\r\nthe end
        """.utf8)

    @Test func everySplitGivesTheSameParts() {
        let expected: [Heard] = [
            .part(Self.json, "{}"), .part(Self.json, #"{"payload":{"data":{"tick":"--graph\r\n--"}}}"#), .end,
        ]
        for way in pieces(of: Self.router) { #expect(Self.hear(way) == expected) }
    }

    /// strawberry-graphql begins without a delimiter, ends its last part twice, and writes several header lines.
    @Test func aPreambleAndAnEmptyPartAreNone() {
        let text = """
            \r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}\r\n--graphql\r\n\
            Content-Type: application/json; charset=utf-8\r\nContent-Length: 3\r\n\r\n{1}\r\n--graphql\r\n--graphql--\r\n
            """
        let expected: [Heard] = [
            .part(["Content-Type=application/json; charset=utf-8", "Content-Length=3"], "{1}"), .end,
        ]
        for way in pieces(of: Array(text.utf8)) { #expect(Self.hear(way) == expected) }
    }

    @Test func linesMayEndInLFAlone() {
        let text = "--b\na: 1\nb:2\n\none\n\ntwo\r\n\r\n--b \t\n\nno headers\n--bc\nno body\n--b--"
        let expected: [Heard] = [
            .part(["a=1", "b=2"], "one\n\ntwo\r\n"), .part([], "no headers"), .part([], ""), .end,
        ]
        for way in pieces(of: Array(text.utf8)) { #expect(Self.hear(way, boundary: "b") == expected) }
    }

    @Test func aPartIsToldBeforeTheLineOfItsDelimiterHasEnded() {
        var reader = MultipartReader(boundary: Array("x".utf8))
        let first = Array("--x\r\n\r\nbody\r\n--x".utf8)
        guard case .part(let part, let next) = reader.feed(first.span, from: 0) else {
            Issue.record("no part")
            return
        }
        #expect(part.body == Array("body".utf8))
        #expect(next == first.count)
        #expect(!reader.isOver)
        let last = Array("--".utf8)
        #expect(reader.feed(last.span, from: 0) == .end(next: 2))
        #expect(reader.isOver)
        #expect(reader.feed(first.span, from: 0) == .more)
    }

    @Test func tooLongPartsAreSkipped() {
        let text = "--b\r\n\r\n0123456789\r\n--b\r\n\r\n0123\r\n56789\r\n--b\r\n\r\n01234\r\n--b--"
        // The empty line and the last line's end count: 12 bytes, 15, 9.
        let expected: [Heard] = [.tooLong, .tooLong, .part([], "01234"), .end]
        for way in pieces(of: Array(text.utf8)) { #expect(Self.hear(way, boundary: "b", limit: 9) == expected) }
    }

    @Test func whatLooksLikeADelimiterAtTheLimitIsNone() {
        let text = "--boundary\r\n\r\n--bound\r\n--boundary--"
        let whole: [Heard] = [.part([], "--bound"), .end]
        for way in pieces(of: Array(text.utf8)) {
            #expect(Self.hear(way, boundary: "boundary", limit: 11) == whole)
            #expect(Self.hear(way, boundary: "boundary", limit: 10) == [.tooLong, .end])
        }
    }

    @Test func whatIsWrittenIsRead() {
        let writer = MultipartWriter(boundary: "graphql")
        var bytes = writer.opening
        var answer = MultipartAnswer(writer)
        for text in ["{}", #"{"payload":null}"#] {
            answer.part(Array(text.utf8).span, isLast: false, into: &bytes)
        }
        answer.end(into: &bytes)
        answer.end(into: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self).hasPrefix(
                "\r\n--graphql\r\ncontent-type: application/json\r\n\r\n{}"))
        #expect(Self.hear([bytes]) == [.part(Self.json, "{}"), .part(Self.json, #"{"payload":null}"#), .end])
    }

    @Test func mediaTypesAreReadAsTheyAreWritten() {
        let quoted = MediaType("Multipart/Mixed; boundary=\"a;\\\"b\" ;subscriptionSpec=1.0; x; =y")
        #expect(quoted.name == "multipart/mixed")
        #expect(quoted["boundary"] == "a;\"b")
        #expect(quoted["subscriptionspec"] == "1.0")
        #expect(quoted.parameters.count == 3)
        let list = MediaType.list(["multipart/mixed;subscriptionSpec=\"1.0\",application/json", "*/*"])
        #expect(list.map(\.name) == ["multipart/mixed", "application/json", "*/*"])
        #expect(list[0]["subscriptionspec"] == "1.0")
    }
}
