import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeWire

/// Replays of a GraphQL session, written as a conversation: milliseconds, direction, message; or `< close 1000 bye`.
final class GraphQLPlay {
    let play: Playbook
    private let chosen: String?

    init(
        _ scripts: String..., chosen: String? = "graphql-transport-ws", speed: ReplayOptions.Speed = .instant,
        faults: [String] = [], _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws {
        self.chosen = chosen
        let sessions = scripts.enumerated().map { GraphQLPlay.session($1, number: $0 + 1, chosen: chosen) }
        play = try Playbook(sessions, speed: speed, faults: faults, change)
    }

    /// - Parameter chosen: the subprotocol that the server answered; nil: a tape without heads.
    static func session(_ script: String, number: Int = 1, chosen: String?) -> RecordedSession {
        var opening = StreamOpening(
            request: RequestHead(method: "GET", target: "/graphql", headers: [HeaderField("Upgrade", "websocket")]))
        if let chosen {
            opening.response = ResponseHead(status: 101, headers: [HeaderField("Sec-WebSocket-Protocol", chosen)])
        }
        var codec = GraphQLCodec(opening)
        var entries: [RecordedSession.Entry] = []
        for (i, line) in script.split(separator: "\n").enumerated() {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            var what: [RecordedSession.What] = []
            if parts[2].hasPrefix("close") {
                let words = parts[2].split(separator: " ", maxSplits: 2).map(String.init)
                what = [.ending(.close(code: UInt16(words[1]), reason: words.count > 2 ? words[2] : ""))]
            } else {
                var messages: [Message] = []
                codec.decode(
                    Array(parts[2].utf8).span, .text, parts[1] == ">" ? .toServer : .toClient, into: &messages)
                what = messages.filter { $0.role != .keepalive && $0.role != .ack }.map { .message($0) }
            }
            for one in what {
                entries.append(
                    RecordedSession.Entry(
                        event: UInt64(i + 10 + 1_000 * (number - 1)), time: UInt64(parts[0])! * 1_000_000,
                        connection: 1, frame: i, one))
            }
        }
        return RecordedSession(
            number: number, codec: CodecEntry(GraphQLCodec.self), writer: codec, transport: .ws, route: "/graphql",
            opening: opening, connections: [1], entries: entries, opened: 0)
    }

    /// Upgrades, without a word more.
    func upgrade(_ offered: String? = "graphql-transport-ws") -> ConnectionID {
        let headers = [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")]
        return play.request(
            "GET", "/graphql", headers + (offered.map { [HeaderField("Sec-WebSocket-Protocol", $0)] } ?? []))
    }

    /// Upgrades and waits for the acknowledgement; what was answered so far is dropped.
    func start() throws -> ConnectionID {
        let c = upgrade(chosen)
        say(c, #"{"type":"connection_init"}"#)
        play.pass(ms: 2)
        let opening = play.take(c)
        try #require(opening == ["101", GraphQLPlay.ack], "\(opening)")
        return c
    }

    static let ack = #"{"type":"connection_ack"}"#
    static let handshake = """
        1 > {"type":"connection_init","payload":{"token":"recorded"}}
        2 < {"type":"connection_ack"}

        """

    func say(_ c: ConnectionID, _ texts: String...) {
        for text in texts { play.sendBytes(c, .text, Array(text.utf8)) }
    }

    func expect(_ c: ConnectionID, _ wanted: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(play.take(c) == wanted, sourceLocation: sourceLocation)
    }
}

// Messages, short.

func subscribe(_ id: String, _ query: String, _ variables: String = "{}") -> String {
    #"{"id":"\#(id)","type":"subscribe","payload":{"query":"\#(query)","variables":\#(variables)}}"#
}

func next(_ id: String, _ n: Int) -> String { #"{"id":"\#(id)","type":"next","payload":{"data":{"n":\#(n)}}}"# }

func complete(_ id: String) -> String { #"{"id":"\#(id)","type":"complete"}"# }
