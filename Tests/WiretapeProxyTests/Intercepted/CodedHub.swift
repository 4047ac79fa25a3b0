import WiretapeBytes
import WiretapeProtocol
import WiretapeRuntime
import WiretapeWire

/// A SignalR server whose bodies have a content coding, whatever its clients accept.
final class CodedHub: StreamHandler {
    /// What the hubs of a test share.
    final class Script {
        var coding: String
        /// Bodies of polls, as they are meant.
        var polls: [[UInt8]] = []
        /// What it was sent, as it came.
        var heads: [RequestHead] = []
        var bodies: [[UInt8]] = []
        /// The event stream.
        var stream: CodedHub?
        /// A whole event stream that has a length.
        var events: [UInt8]?
        private var hasBegun = false

        init(_ coding: String) { self.coding = coding }

        /// A body, or a piece of one: a gzip member, or a block that Brotli holds as it is.
        func encode(_ bytes: [UInt8], isWhole: Bool) -> [UInt8] {
            guard !bytes.isEmpty else { return [] }
            if coding == "gzip" {
                var compressor = MemberCompressor()
                var out: [UInt8] = []
                let info = MemberInfo(events: 0, firstTime: 0, firstEvent: 0, opens: 0, firstConnection: 0)
                compressor.append(bytes.span, info: info, level: 6, into: &out)
                return out
            }
            guard coding == "br" else { return bytes }
            var head = UInt32(bytes.count - 1) << 3 | 1 << 19
            if isWhole || !hasBegun { head <<= 1 }
            if !isWhole { hasBegun = true }
            let block = [UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head >> 8), UInt8(head >> 16)]
            return block + bytes + (isWhole ? [3] : [])
        }
    }

    private let script: Script
    private var connection: (any ByteStream)?
    private var scanner = HTTPScanner(.toServer)

    init(_ stream: any ByteStream, _ script: Script) {
        connection = stream
        self.script = script
        stream.isReading = true
    }

    /// An event of the stream.
    func event(_ text: String) { piece(script.encode(Array("data: \(text)\r\n\r\n".utf8), isWhole: false)) }

    func piece(_ bytes: [UInt8]) {
        write(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
    }

    private func write(_ bytes: [UInt8]) { connection?.write(bytes.span) }

    private func answer(_ head: RequestHead) {
        func ok(_ body: [UInt8], _ type: String = "application/json") {
            let coded = script.encode(body, isWhole: true)
            let field = body.isEmpty ? "" : "Content-Encoding: \(script.coding)\r\n"
            let text = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(coded.count)\r\n\(field)\r\n"
            write(Array(text.utf8) + coded)
        }
        if head.path.hasSuffix("/negotiate") {
            return ok(
                Array(
                    #"{"negotiateVersion":1,"connectionId":"c1","connectionToken":"t1","availableTransports":[]}"#.utf8)
            )
        }
        if head.method == "POST" { return ok([]) }
        guard head.headers.first("Accept") == "text/event-stream" else {
            return ok(script.polls.isEmpty ? [] : script.polls.removeFirst())
        }
        if let events = script.events { return ok(events, "text/event-stream") }
        script.stream = self
        write(
            Array(
                ("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: \(script.coding)\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n").utf8))
        piece(script.encode(Array(":\r\n".utf8), isWhole: false))
    }

    func connected() {}
    func received(_ bytes: Span<UInt8>) {
        var at = 0
        while true {
            switch scanner.scan(bytes, from: at) {
            case .request(let head, _, let next):
                script.heads.append(head)
                script.bodies.append([])
                at = next
            case .body(let range, let next):
                script.bodies[script.bodies.count - 1].append(copying: bytes.extracting(range))
                at = next
            case .end(_, let next):
                at = next
                if let head = script.heads.last { answer(head) }
            default: return
            }
        }
    }
    func receivedEnd() { connection?.halfClose() }
    func drained() {}
    func ended(_ how: StreamEnd) { connection = nil }
}
