extension RuleWord {
    /// The points, in the order of ``FaultPoint``.
    package static let points: [RuleWord] = FaultPoint.allCases.map { point in
        RuleWord(point.rawValue, point.summary, point.example)
    }
}

extension FaultPoint {
    /// What it is, in one line.
    package var summary: String {
        switch self {
        case .accept: "a TCP connection, before anything is known of its client"
        case .tls: "a TLS handshake, once the client has said its hello; counted by listener"
        case .connect: "the first request of an attempt"
        case .request: "any HTTP request of a session"
        case .negotiate: "a request that negotiates"
        case .upgrade: "a request for a WebSocket"
        case .poll: "a poll of long polling"
        case .send: "a POST with messages"
        case .stream: "the GET of an event stream"
        case .operation: "a request that is one message by itself: GraphQL over HTTP, a stream of no protocol"
        case .refresh: "a request that renews the credential of a living connection (SignalR's POST to /refresh)"
        case .handshake: "the server's answer to the protocol's handshake, or with direction=toServer the client's part"
        case .subscribe:
            "a message of the client that subscribes to a channel, an operation or a stream, or does so again"
        case .message: "any message but handshakes, keepalives and acknowledgements"
        case .close: "one side ends a connection"
        case .time: "a moment; 'since' without a place means it"
        }
    }

    /// A rule about it; nil when none can be loaded yet.
    package var example: String? {
        switch self {
        case .accept: "refuse on accept[2..4]"
        case .tls: "certificate(expired) on tls[1]"
        case .connect: "respond(503) on connect[retry=1]"
        case .request: "respond(401) on request[token=stale]"
        case .negotiate: "delay(2s) on negotiate"
        case .upgrade: "wrong-accept on upgrade[1]"
        case .poll: "expire after poll[3]"
        case .send: "respond(500) on send[2]"
        case .stream: "reset on stream[attempt=2]"
        case .operation: "respond(503) on operation[1]"
        case .refresh: "respond(503) on refresh[1]"
        case .handshake: "mute after handshake"
        case .subscribe: "reset after subscribe[1]"
        case .message: "drop on message[every 10]"
        case .close: "drop on close[by=server]"
        case .time: "stall since connect=5s"
        }
    }
}
