import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

extension ContractSamples {
    /// All dialects over WebSockets, and exchanges over HTTP.
    static let graphQL = ContractSamples(
        codec: CodecEntry(GraphQLCodec.self), framing: .messages,
        tapes: [
            "graphql/graphql-transport-ws-js", "graphql/graphql-legacy-ws-stw", "graphql/graphql-wss-tls12-gql",
            "recordings/graphql-transport-ws", "recordings/graphql-ws-legacy", "recordings/graphql-gql",
            "recordings/graphql-multipart", "recordings/graphql-sse", "recordings/graphql-sse-single",
            "graphql/graphql-multipart-strawberry", "graphql/graphql-badnet-http", "graphql/graphql-wss-tls12-gql-http",
        ],
        opening: graphQLOpening("graphql-transport-ws"),
        equal: [
            Pair(
                #"{"id":"1","type":"subscribe","payload":{"query":"subscription S($n: Int!) { tick(n: $n) }","variables":{"n":3}}}"#,
                #" {"type": "subscribe", "payload": {"variables": {"n": 3.0}, "query": "subscription S(\n  $n : Int!,\n) {\n  tick(n: $n) # ticks\n}", "operationName": "S"}, "id": "f00d"}"#
            ),
            Pair(
                #"{"id":"1","type":"subscribe","payload":{"query":"{ a }","variables":null,"operationName":null}}"#,
                #"{"id":"2","type":"subscribe","payload":{"query":"query{a __typename}","variables":{},"extensions":{"clientLibrary":{"version":"2"}}}}"#
            ),
            Pair(
                #"{"type":"connection_init","payload":{"authToken":"abc"}}"#, #"{"type":"connection_init"}"#),
            Pair(.toClient, #"{"type":"connection_ack","payload":{"sid":"9"}}"#, #"{"type":"connection_ack"}"#),
            Pair(
                .toClient, #"{"id":"1","type":"next","payload":{"data":{"a":1,"b":2}}}"#,
                #"{"type":"next","id":"x","payload":{"data":{"b":2,"a":1}}}"#),
            Pair(#"{"id":"1","type":"complete"}"#, #"{"type":"complete","id":"2","payload":null}"#),
        ],
        different: [
            subscribe(#""query":"subscription { tick(n: 1) }""#, #""query":"subscription { tick(n: 2) }""#),
            subscribe(#""query":"{ a b }""#, #""query":"{ ab }""#),
            subscribe(#""query":"{ a }""#, #""query":"mutation { a }""#),
            subscribe(
                #""query":"query A { a } query B { a }","operationName":"A""#,
                #""query":"query A { a } query B { a }","operationName":"B""#),
            subscribe(
                #""query":"query($n: ID) { a(n: $n) }","variables":{"n":"1"}"#,
                #""query":"query($n: ID) { a(n: $n) }","variables":{"n":1}"#),
            subscribe(
                #""query":"query($n: ID) { a(n: $n) }","variables":{"n":90071992547409931}"#,
                #""query":"query($n: ID) { a(n: $n) }","variables":{"n":90071992547409932}"#),
            subscribe(
                #""extensions":{"persistedQuery":{"version":1,"sha256Hash":"aa"}}"#,
                #""extensions":{"persistedQuery":{"version":1,"sha256Hash":"bb"}}"#),
            Pair(
                .toClient, #"{"id":"1","type":"next","payload":{"data":{"a":1}}}"#,
                #"{"id":"1","type":"next","payload":{"data":{"a":2}}}"#),
            Pair(
                .toClient, #"{"id":"1","type":"error","payload":[{"message":"a"}]}"#, #"{"id":"1","type":"complete"}"#),
        ])

    static func graphQLOpening(_ chosen: String?, target: String = "/graphql") -> StreamOpening {
        var opening = upgrade(target)
        if let chosen {
            opening.request.headers.append(HeaderField("Sec-WebSocket-Protocol", chosen))
            opening.response?.headers.append(HeaderField("Sec-WebSocket-Protocol", chosen))
        }
        return opening
    }

    private static func subscribe(_ first: String, _ second: String) -> Pair {
        Pair(
            "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":{\(first)}}",
            "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":{\(second)}}")
    }
}
