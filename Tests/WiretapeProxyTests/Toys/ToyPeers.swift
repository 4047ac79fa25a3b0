import WiretapeBytes
import WiretapeWire

/// A server and clients of the toy over WebSockets.
enum ToySocket {
    /// Answers each question with its word again; the first is followed by news.
    static func serve(_ peer: ScriptedPeer) {
        var assembler = MessageAssembler(.toServer)
        var at = 0
        var questions = 0
        peer.onBytes = { peer in
            if at == 0 {
                guard let end = peer.text.firstRange(of: "\r\n\r\n") else { return }
                at = peer.text[..<end.upperBound].utf8.count
                peer.send(
                    """
                    HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n
                    """)
            }
            let received = peer.received
            while case .message(_, let bytes, _, _, let next) = assembler.feed(received.span, from: at) {
                at = next
                questions += 1
                let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
                peer.send(frame("reply \(words[1]) \(words[2])"))
                if questions == 1 { peer.send(frame("news rain")) }
            }
        }
    }

    private static func frame(_ text: String) -> [UInt8] {
        var out: [UInt8] = []
        FrameWriter.append(opcode: 1, payload: Array(text.utf8).span, into: &out)
        return out
    }

    /// Asks two questions, the second behind the news, under the ids that it was given.
    static func ask(_ peer: ScriptedPeer, ids: [String]) {
        var said = 0
        peer.send(
            """
            GET /toy HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
            """)
        peer.onBytes = { peer in
            guard peer.text.contains("\r\n\r\n") else { return }
            let heard = ReplayStage.messages(peer.received).count
            if said == 0 {
                said = 1
                peer.send(ReplayStage.frame("ask \(ids[0]) apples"))
            } else if said == 1, heard >= 2 {
                said = 2
                peer.send(ReplayStage.frame("ask \(ids[1]) pears"))
            } else if said == 2, heard >= 3 {
                said = 3
                peer.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
            }
        }
    }
}

/// The HTTP messages that have come whole: the first line of each, and its body.
func toyMessages(_ text: String) -> [(line: String, body: String)] {
    var found: [(line: String, body: String)] = []
    var rest = text[...]
    while let end = rest.firstRange(of: "\r\n\r\n") {
        let head = rest[..<end.lowerBound].split(separator: "\r\n")
        let length = head.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: " ").last ?? "") }
        guard rest[end.upperBound...].count >= length ?? 0 else { break }
        let body = rest[end.upperBound...].prefix(length ?? 0)
        found.append((String(head.first ?? ""), String(body)))
        rest = rest[body.endIndex...]
    }
    return found
}

/// The server of the toy over polls.
final class ToyBox {
    private var lines: [String] = []
    private var poll: ScriptedPeer?

    func serve(_ peer: ScriptedPeer) {
        var answered = 0
        peer.onBytes = { [self] peer in
            let requests = toyMessages(peer.text)
            while answered < requests.count {
                let (line, body) = requests[answered]
                answered += 1
                take(line, body, peer)
            }
        }
    }

    private func take(_ line: String, _ body: String, _ peer: ScriptedPeer) {
        if line.hasPrefix("POST /box/open") {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbox1")
        } else if line.hasPrefix("GET") {
            poll = peer
            deliver()
        } else {
            peer.send("HTTP/1.1 204 No Content\r\n\r\n")
            for asked in body.split(separator: "\n") {
                let words = asked.split(separator: " ")
                lines.append("reply \(words[1]) \(words[2])\n")
                if words[2] == "apples" { lines.append("news rain\n") }
            }
            deliver()
        }
    }

    private func deliver() {
        guard let poll, !lines.isEmpty else { return }
        let body = lines.joined()
        poll.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        self.poll = nil
        lines = []
    }
}

/// A client of the toy over polls: one connection for polls, one for what it says.
final class ToyPollClient {
    private let ids: [String]
    private let connect: (@escaping (ScriptedPeer) -> Void) -> ScriptedPeer
    private var polls: ScriptedPeer?
    private var sends: ScriptedPeer?
    private var key = ""
    private var seen = 0
    private var said = 0
    /// Lines of the server.
    private(set) var heard: [String] = []
    /// First lines of its answers.
    private(set) var statuses: [String] = []

    /// - Parameter connect: opens a connection, and calls back when it is there.
    init(ids: [String], _ connect: @escaping (@escaping (ScriptedPeer) -> Void) -> ScriptedPeer) {
        self.ids = ids
        self.connect = connect
    }

    func start() {
        polls = connect { $0.send("POST /box/open HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n") }
        polls?.onBytes = { [unowned self] peer in
            let answers = toyMessages(peer.text)
            while seen < answers.count {
                let (line, body) = answers[seen]
                seen += 1
                statuses.append(line)
                if seen == 1 { key = body } else { heard += body.split(separator: "\n").map(String.init) }
                goOn()
            }
        }
    }

    private func goOn() {
        if heard.count < 3 { polls?.send("GET /box?key=\(key) HTTP/1.1\r\nHost: x\r\n\r\n") }
        if said == 0 {
            say("apples")
        } else if said == 1, heard.count >= 2 {
            say("pears")
        } else if said == 2, heard.count >= 3 {
            said = 3
            sends?.send("DELETE /box?key=\(key) HTTP/1.1\r\nHost: x\r\n\r\n")
        }
    }

    private func say(_ word: String) {
        let body = "ask \(ids[said]) \(word)\n"
        said += 1
        let request = "POST /box?key=\(key) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        if let sends { sends.send(request) } else { sends = connect { $0.send(request) } }
    }
}
