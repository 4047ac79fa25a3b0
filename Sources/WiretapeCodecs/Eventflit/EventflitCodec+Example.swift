extension EventflitCodec {
    package static var memberOrder: [String] { ["event", "channel", "data", "user_id", "auth", "channel_data"] }

    package static var example: [String] {
        [
            "# A tape is what passed between a client and its server, a message a line, in order. Lines like this one, which",
            "# begin with a hash sign, are comments and survive every tool. The WebSocket and connection_established are",
            "# supplied (with the prefix pusher: a tape for eventflit: begins with its own connection_established).",
            "#",
            #"# ">" went to the server: the client wants a channel."#,
            #"{"d":">","json":{"event":"pusher:subscribe","data":{"channel":"room"}}}"#,
            #"# "<" went to the client. What a server sends has its "data" as a text of JSON. Replay sends this answer when"#,
            "# the client has asked for the channel.",
            #"{"d":"<","json":{"event":"pusher_internal:subscription_succeeded","channel":"room","data":"{}"}}"#,
            #"# "after" is the time since the line before: 250ms, 1.5s, 2m."#,
            #"{"d":"<","after":"1s","json":{"event":"order","channel":"room","data":"{\"id\":1}"}}"#,
        ]
    }
}
