import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// What rules do to the parts of a multipart answer on live traffic: the client gets a body that its server could have
/// written.
@Suite struct InterceptedMultipartTests {
    private static let parts = [
        #"{"data":{"slow":{"id":1}},"hasNext":true}"#,
        #"{"incremental":[{"data":{"b":"é"},"path":[]}],"hasNext":true}"#,
        #"{"hasNext":false}"#,
    ]

    private static func counted(_ json: String) -> String {
        "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)\r\n---"
    }

    private static func plain(_ json: String, _ end: String) -> String {
        "content-type: application/json; charset=utf-8\r\n\r\n\(json)\r\n---\(end)\r\n"
    }

    static let servers = [
        ["---", counted(parts[0]), counted(parts[1]), counted(parts[2]), "--\r\n"],
        ["\r\n---\r\n" + plain(parts[0], ""), plain(parts[1], ""), plain(parts[2], "--")],
    ]

    /// The client's body after a rule.
    private func body(_ rule: String, _ pieces: [String]) throws -> String {
        let type = #"Content-Type: multipart/mixed; boundary="-"; deferSpec=20220824"#
        let head = ["HTTP/1.1 200 OK", type, "Transfer-Encoding: chunked", "", ""].joined(separator: "\r\n")
        let answer = head + pieces.map(HTTPOrigin.chunk).joined() + "0\r\n\r\n"
        let stage = try InterceptStage([rule]) { HTTPOrigin($0) { _, _, _ in answer } }
        let peer = ScriptedPeer()
        let asked = #"{"query":"query D { slow { id ... @defer { b } } }"}"#
        let lines = [
            "POST /graphql HTTP/1.1", "Host: p", "Content-Type: application/json",
            "Accept: multipart/mixed;deferSpec=20220824",
            "Content-Length: \(asked.utf8.count)", "", asked,
        ]
        peer.onConnect = { $0.send(lines.joined(separator: "\r\n")) }
        peer.stream = stage.connect(peer)
        stage.run(1_000)
        #expect(stage.report.unfired.isEmpty)
        peer.shut()
        _ = stage.finish()
        let text = peer.text
        let start = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
        return Self.joined(String(text[start...]))
    }

    /// A chunked body without its chunks.
    private static func joined(_ chunked: String) -> String {
        var rest = Array(chunked.utf8)[...]
        var out: [UInt8] = []
        while let line = rest.firstIndex(of: 0x0a) {
            let size = Int(String(decoding: rest[..<line].prefix { $0 != 0x0d }, as: UTF8.self), radix: 16) ?? 0
            guard size > 0, rest.count > line - rest.startIndex + size else { break }
            out += rest[(line + 1)...].prefix(size)
            rest = rest[(line + 1 + size + 2)...]
        }
        return String(decoding: out, as: UTF8.self)
    }

    private func read(_ body: String) -> [String] {
        var reader = MultipartReader(boundary: Array("-".utf8))
        let bytes = Array(body.utf8)
        var at = 0
        var parts: [String] = []
        while true {
            switch reader.feed(bytes.span, from: at) {
            case .more: return parts
            case .part(let part, let next):
                #expect(part.headers.first("Content-Type") == "application/json; charset=utf-8")
                parts.append(String(decoding: part.body, as: UTF8.self))
                at = next
            case .tooLong(let next): at = next
            case .end(let next):
                parts.append("end")
                at = next
            }
        }
    }

    @Test(
        arguments: servers,
        [
            ("drop on next[1]", [1, 2]), ("drop on next[2]", [0, 2]), ("duplicate(2) on next[1]", [0, 0, 0, 1, 2]),
            ("duplicate on next[2]", [0, 1, 1, 2]), ("delay(10ms) on next[2]", [0, 1, 2]),
        ])
    func partsChange(_ pieces: [String], _ rule: (String, [Int])) throws {
        let body = try body(rule.0, pieces)
        #expect(read(body) == rule.1.map { Self.parts[$0] } + ["end"], "\(body)")
        #expect(body.hasPrefix(pieces[0].hasPrefix("---") ? "---" : "\r\n---"))
    }

    /// A part of ours has its own length.
    @Test(arguments: servers) func aPartIsReplaced(_ pieces: [String]) throws {
        let body = try body("replace(/data=null) on next[1]", pieces)
        #expect(read(body).first == #"{"data":null,"hasNext":true}"#)
        #expect(read(body).count == 4, "\(body)")
    }
}
