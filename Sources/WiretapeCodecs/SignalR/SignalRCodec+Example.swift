extension SignalRCodec {
    package static var memberOrder: [String] {
        [
            "protocol", "version", "type", "invocationId", "target", "arguments", "streamIds", "item", "result",
            "error",
            "allowReconnect", "sequenceId", "headers", "useStatefulReconnect", "negotiateVersion", "url", "accessToken",
            "connectionId", "connectionToken", "availableTransports", "transport", "transferFormats",
        ]
    }

    package static var example: [String] {
        [
            "# A tape is what passed between a client and its server, a message a line, in order. Lines like this one, which",
            "# begin with a hash sign, are comments and survive every tool. Negotiation, WebSocket and handshake are supplied.",
            "#",
            #"# ">" went to the server: the client calls a method of the hub. "invocationId" ties the answer to the call; at"#,
            "# replay the client's own ids count. Leave it out for a call that wants no answer.",
            #"{"d":">","json":{"type":1,"invocationId":"1","target":"Send","arguments":["ada","hello"]}}"#,
            #"# "<" went to the client: the server calls the client. Replay sends it when the client has sent what stands"#,
            #"# before it; "after" is the time since the line before: 250ms, 1.5s, 2m."#,
            #"{"d":"<","after":"100ms","json":{"type":1,"target":"ReceiveMessage","arguments":["ada","hello"]}}"#,
            #"# The answer to the call: "result" is what the method returned; "error":"text" stands for one that threw."#,
            #"{"d":"<","json":{"type":3,"invocationId":"1","result":null}}"#,
            "# A second later the server has news of its own.",
            #"{"d":"<","after":"1s","json":{"type":1,"target":"ReceiveMessage","arguments":["bob","hi ada"]}}"#,
        ]
    }
}
