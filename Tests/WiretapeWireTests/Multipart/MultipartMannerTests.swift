import Testing
import WiretapeWire

/// A body is written again as the server wrote the one that was read.
struct MultipartMannerTests {
    struct Server: CustomStringConvertible, Sendable {
        var description: String
        var boundary: String
        /// What it wrote, piece by piece, and how many parts that are.
        var pieces: [String]
        var parts: [String]
        /// Of the pieces those that a copy of the body has, where that has others.
        var written: [String]?
    }

    private static let one = #"{"data":{"a":1},"hasNext":true}"#
    private static let two = #"{"incremental":[{"data":{"b":"é"},"path":[]}],"hasNext":true}"#
    private static let last = #"{"hasNext":false}"#
    private static var all: [String] { [one, two, last] }

    private static func counted(_ json: String) -> String {
        "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)\r\n"
    }

    static let servers: [Server] = [
        Server(
            description: "strawberry-graphql", boundary: "-",
            pieces: ["---"] + all.map { counted($0) + "---" } + ["--\r\n"], parts: all),
        Server(
            description: "Apollo Server", boundary: "-",
            pieces: ["\r\n---\r\n" + plain(one) + "---\r\n", plain(two) + "---\r\n", plain(last) + "-----\r\n"],
            parts: all,
            written: ["\r\n---", "\r\n" + plain(one) + "---\r\n", plain(two) + "---\r\n", plain(last) + "-----\r\n"]),
        Server(
            description: "graphql-yoga", boundary: "-",
            pieces: ["\r\n---"] + all.dropLast().map { counted($0) + "---" } + [counted(last) + "-----\r\n"], parts: all
        ),
        Server(
            description: "a delimiter before each part, a line end beyond its length", boundary: "b",
            pieces: [
                "--b" + counted(one) + "\r\n", "--b" + counted(two) + "\r\n", "--b" + counted(last) + "\r\n",
                "--b--\r\n",
            ],
            parts: all,
            written: ["--b", counted(one) + "\r\n--b", counted(two) + "\r\n--b", counted(last) + "\r\n--b--\r\n"]),
        Server(
            description: "a subscription of strawberry-graphql", boundary: "graphql",
            pieces: [counted("{}") + "--graphql", counted("{1}") + "--graphql", "\r\n--graphql--\r\n"], parts: ["{1}"],
            written: [counted("{}") + "--graphql", counted("{1}") + "--graphql", "\r\n--graphql--\r\n"]),
        Server(
            description: "line feeds alone", boundary: "x",
            pieces: ["--x", "\nA: b\n\n{}\n--x", "--\n"], parts: ["{}"]),
    ]

    private static func plain(_ json: String) -> String {
        "content-type: application/json; charset=utf-8\r\n\r\n\(json)\r\n"
    }

    @Test(arguments: servers) func itIsWrittenAsItWasRead(_ server: Server) throws {
        var reader = MultipartReader(boundary: Array(server.boundary.utf8))
        var read: [String] = []
        for piece in server.pieces {
            let bytes = Array(piece.utf8)
            var at = 0
            feeding: while true {
                switch reader.feed(bytes.span, from: at) {
                case .more: break feeding
                case .part(let part, let next):
                    read.append(String(decoding: part.body, as: UTF8.self))
                    at = next
                case .tooLong(let next), .end(let next): at = next
                }
            }
        }
        #expect(read == server.parts)
        let writer = try #require(reader.writer)
        var answer = MultipartAnswer(writer)
        var written = [String(decoding: writer.opening, as: UTF8.self)]
        for (i, part) in server.parts.enumerated() {
            var bytes: [UInt8] = []
            let isLast = i == server.parts.count - 1
            answer.part(Array(part.utf8).span, isLast: isLast, into: &bytes)
            written.append(String(decoding: bytes, as: UTF8.self))
        }
        var end: [UInt8] = []
        answer.end(into: &end)
        if !end.isEmpty { written.append(String(decoding: end, as: UTF8.self)) }
        #expect(written == server.written ?? server.pieces)
        #expect(written.joined() == server.pieces.joined())
    }

    /// What is beside the parts costs bounded memory, and a body without a part teaches nothing.
    @Test func tooMuchBesideThePartsIsNotKept() {
        func writer(_ text: String) -> MultipartWriter? {
            var reader = MultipartReader(boundary: Array("b".utf8))
            let bytes = Array(text.utf8)
            var at = 0
            while case .part(_, let next) = reader.feed(bytes.span, from: at) { at = next }
            return reader.writer
        }
        #expect(writer("--b") == nil)
        #expect(writer(String(repeating: "x", count: 5_000) + "\r\n--b\r\n\r\n1\r\n--b--\r\n") == nil)
        #expect(writer("--b\r\n\r\n1\r\n--b") != nil)
    }

    /// A delimiter's line that has ended with the part before needs another one to close.
    @Test func aBodyThatIsLongerThanTheRecordedOne() throws {
        let apollo = Self.servers[1]
        var reader = MultipartReader(boundary: Array("-".utf8))
        let bytes = Array(apollo.pieces[0].utf8)
        _ = reader.feed(bytes.span, from: 0)
        var answer = MultipartAnswer(try #require(reader.writer))
        var out = answer.writer.opening
        for part in ["1", "2"] { answer.part(Array(part.utf8).span, isLast: false, into: &out) }
        answer.end(into: &out)
        let expected: [MultipartReaderTests.Heard] = [
            .part(["content-type=application/json; charset=utf-8"], "1"),
            .part(["content-type=application/json; charset=utf-8"], "2"), .end,
        ]
        #expect(MultipartReaderTests.hear([out], boundary: "-") == expected)
    }
}
