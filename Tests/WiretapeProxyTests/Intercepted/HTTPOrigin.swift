import WiretapeBytes
import WiretapeRuntime
import WiretapeWire

/// A server in a test: answers whole requests by a closure, in bytes.
final class HTTPOrigin: StreamHandler {
    var stream: (any ByteStream)?
    private var scanner = HTTPScanner(.toServer)
    private var head: RequestHead?
    private var body: [UInt8] = []
    private let answer: (HTTPOrigin, RequestHead, String) -> String

    init(_ stream: any ByteStream, _ answer: @escaping (HTTPOrigin, RequestHead, String) -> String) {
        self.stream = stream
        self.answer = answer
        stream.isReading = true
    }

    static func ok(_ body: String, _ fields: [String] = []) -> String {
        (["HTTP/1.1 200 OK", "Content-Length: \(body.utf8.count)"] + fields + ["", body]).joined(separator: "\r\n")
    }

    static let events = [
        "HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", "", "",
    ].joined(separator: "\r\n")

    static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

    func send(_ text: String) { stream?.write(Array(text.utf8).span) }

    func connected() {}
    func received(_ bytes: Span<UInt8>) {
        var at = 0
        while true {
            switch scanner.scan(bytes, from: at) {
            case .request(let head, _, let next):
                self.head = head
                body = []
                at = next
            case .body(let range, let next):
                body.append(copying: bytes.extracting(range))
                at = next
            case .end(_, let next):
                at = next
                if let head { send(answer(self, head, String(decoding: body, as: UTF8.self))) }
            default: return
            }
        }
    }
    func receivedEnd() { stream?.halfClose() }
    func drained() {}
    func ended(_ how: StreamEnd) { stream = nil }
}
