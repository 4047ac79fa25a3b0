import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// A codec of a session that is fed texts.
struct GraphQLTalk {
    var codec: GraphQLCodec

    init(_ chosen: String? = "graphql-transport-ws", target: String = "/graphql") {
        codec = GraphQLCodec(ContractSamples.graphQLOpening(chosen, target: target))
    }

    mutating func toServer(_ text: String) -> Message { say(text, .toServer) }
    mutating func toClient(_ text: String) -> Message { say(text, .toClient) }

    private mutating func say(_ text: String, _ direction: Direction) -> Message {
        var out: [Message] = []
        codec.decode(Array(text.utf8).span, .text, direction, into: &out)
        return out.count == 1 ? out[0] : .opaque([], direction, reason: "\(out.count) messages")
    }

    /// `{"id":…,"type":"subscribe","payload":…}`.
    mutating func subscribe(_ id: String, _ query: String, _ rest: String = "") -> Message {
        toServer(
            "{\"id\":\"\(id)\",\"type\":\"subscribe\",\"payload\":{\"query\":\(JSONValue.string(query).text)\(rest)}}")
    }

    /// The one spelling of a document.
    static func normalised(_ query: String) -> String? {
        var talk = GraphQLTalk()
        return talk.subscribe("1", query).meaning["payload"]?["query"]?.string
    }
}
