extension AtmosphereCodec {
    package static var example: [String] {
        [
            "# A tape is what passed between a client and its server, a message a line, in order. Lines like this one, which",
            "# begin with a hash sign, are comments and survive every tool. Requests, tracking id, handshake, padding and",
            "# lengths are supplied at replay, over whatever transport the client asks for.",
            "#",
            #"# ">" went to the server: a push of the client. A payload is json, or text."#,
            #"{"d":">","json":{"author":"ada","message":"hello"}}"#,
            #"# "<" went to the client. Replay sends it when the client has sent what stands before it; "after" is the time"#,
            "# since the line before: 250ms, 1.5s, 2m.",
            #"{"d":"<","after":"100ms","json":{"author":"ada","message":"hello"}}"#,
            "# A second later the server has news of its own.",
            #"{"d":"<","after":"1s","text":"news"}"#,
        ]
    }
}
