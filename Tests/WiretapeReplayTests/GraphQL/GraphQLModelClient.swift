import WiretapeBytes
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeWire

/// The client of a recorded session: says what that said, under ids of its own, and starts again after a lost connection what
/// has not come to its end.
final class GraphQLModelClient {
    private let session: RecordedSession
    private let script: [Message]
    private let play: Playbook
    private var c: ConnectionID = 0
    private var connections = 0
    /// Recorded ids by live ones, of this connection.
    private var recorded: [String: String] = [:]
    private var started: [String] = []
    private var over: Set<String> = []
    private(set) var cancelled: Set<String> = []
    private var heard = 0
    /// What came, by recorded id: payloads, and `error` or `complete`.
    private(set) var got: [String: [String]] = [:]

    init(_ session: RecordedSession, _ play: Playbook) {
        self.session = session
        self.play = play
        script = session.entries.compactMap { if case .message(let message) = $0.what { message } else { nil } }
    }

    /// What the server says in each chain.
    var wanted: [String: [String]] {
        Dictionary(
            grouping: script.filter { $0.direction == .toClient && $0.role != .handshake }, by: { $0.chain?.id ?? "" }
        ).mapValues { $0.map(GraphQLModelClient.text) }
    }

    private static func text(_ message: Message) -> String { message.kind + message.meaning.canonicalText }

    /// Says each message once `may` allows it: after all before it have come, or as soon as its chain lets it.
    /// - Parameter cut: how many messages come before the connection is lost; nil: it is not.
    func run(waits: Bool, cut: Int? = nil) {
        connect()
        var turn = 1
        var idle = 0
        while turn < script.count || idle < 200 {
            listen()
            if let cut, heard >= cut, connections == 1 {
                play.close(c, .rst("reset"))
                play.pass(ms: 7)
                listen()
                connect()
                for id in started.reversed() where !over.contains(id) && !cancelled.contains(id) { start(id) }
                // Nobody asks for these again.
                over.formUnion(cancelled)
            }
            while turn < script.count, script[turn].direction == .toClient { turn += 1 }
            if turn < script.count, may(turn, waits) {
                say(script[turn])
                turn += 1
                idle = 0
            } else {
                play.pass(ms: 10)
                idle += 1
                if idle > 3_000 { break }
            }
        }
        play.close(c)
    }

    private func may(_ turn: Int, _ waits: Bool) -> Bool {
        let before = script[..<turn].filter { $0.direction == .toClient && $0.role != .handshake }
        switch script[turn].role {
        case .cancel where !waits: return isHeard(script[turn].chain?.id ?? "", before)
        case .request where !waits: return true
        default: return Set(before.compactMap(\.chain?.id)).allSatisfy { over.contains($0) || isHeard($0, before) }
        }
    }

    /// Whether all of the chain that stands in `before` has come.
    private func isHeard(_ id: String, _ before: [Message]) -> Bool {
        got[id]?.count ?? 0 >= before.count { $0.chain?.id == id }
    }

    private func connect() {
        connections += 1
        recorded = [:]
        var headers = [HeaderField("Upgrade", "websocket")]
        headers += session.opening.request.headers.filter { $0.name == "Sec-WebSocket-Protocol" }
        c = play.request("GET", session.opening.request.target, headers)
        play.sendBytes(c, .text, Array(#"{"type":"connection_init"}"#.utf8))
        for _ in 0..<200 {
            if play.take(c).contains(#"{"type":"connection_ack"}"#) { return }
            play.pass(ms: 1)
        }
    }

    private func say(_ message: Message) {
        guard let id = message.chain?.id else { return play.sendBytes(c, .text, message.bytes) }
        if message.role == .request {
            started.append(id)
            return start(id)
        }
        if message.role == .cancel { cancelled.insert(id) }
        send(message, recorded.first { $0.value == id }?.key ?? id)
    }

    private func start(_ id: String) {
        guard let request = script.first(where: { $0.role == .request && $0.chain?.id == id }) else { return }
        let live = "\(connections)-\(recorded.count)"
        recorded[live] = id
        send(request, live)
    }

    private func send(_ message: Message, _ live: String) {
        var ids = IDMap()
        if let chain = message.chain { ids.bind(chain, to: live) }
        var bytes: [UInt8] = []
        _ = session.writer.write(message, ids: ids, on: .ws, into: &bytes)
        play.sendBytes(c, .text, bytes)
    }

    private func listen() {
        var reader = session.writer
        for text in play.take(c) where text.hasPrefix("{") {
            var messages: [Message] = []
            reader.decode(Array(text.utf8).span, .text, .toClient, into: &messages)
            for message in messages where message.role != .keepalive && message.role != .handshake {
                heard += 1
                guard let live = message.chain?.id else { continue }
                let id = recorded[live] ?? "not mine: \(live)"
                got[id, default: []].append(GraphQLModelClient.text(message))
                if message.kind == "complete" || message.kind == "error" { over.insert(id) }
            }
        }
    }
}
