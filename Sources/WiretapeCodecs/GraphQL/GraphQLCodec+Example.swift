extension GraphQLCodec {
    package static var memberOrder: [String] {
        [
            "id", "type", "payload", "operationName", "query", "variables", "extensions", "data", "errors", "message",
            "locations", "path",
        ]
    }

    package static var example: [String] {
        [
            "# A tape is what passed between a client and its server, a message a line, in order. Lines like this one, which",
            "# begin with a hash sign, are comments and survive every tool. The WebSocket (subprotocol graphql-transport-ws),",
            "# connection_init and connection_ack are supplied.",
            "#",
            #"# ">" went to the server: the client starts an operation. White space in the query, the order of members and the"#,
            "# id do not matter at replay; the operation's name, its document and the variables do.",
            #"{"d":">","json":{"id":"1","type":"subscribe","payload":{"query":"subscription OnTick($limit: Int!) { tick(limit: $limit) }","operationName":"OnTick","variables":{"limit":2}}}}"#,
            #"# "<" went to the client: one result. Replay sends it when the client has sent what stands before it; "after" is"#,
            "# the time since the line before: 250ms, 1.5s, 2m.",
            #"{"d":"<","after":"100ms","json":{"id":"1","type":"next","payload":{"data":{"tick":1}}}}"#,
            #"{"d":"<","after":"1s","json":{"id":"1","type":"next","payload":{"data":{"tick":2}}}}"#,
            "# The operation is over.",
            #"{"d":"<","json":{"id":"1","type":"complete"}}"#,
        ]
    }
}
