import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

extension ContractSamples {
    /// Any bytes are an event, a line or something beside them; nothing is answered in words of the protocol.
    static let events = ContractSamples(
        codec: CodecEntry(EventsCodec.self), framing: .messages, tapes: ["events/prices", "events/log", "events/say"],
        opening: StreamOpening(
            request: RequestHead(method: "POST", target: "/v1/chat"),
            response: ResponseHead(status: 200, headers: [HeaderField("Content-Type", "text/event-stream")])),
        equal: [
            Pair(#"{"model":"m","n":[1]}"#, #"{ "n": [1.0], "model": "\u006d" }"#),
            Pair(.toClient, "event: a\ndata: {\"a\":1}\n\n", "data: { \"a\": 1.0 }\r\nevent:a\r\n\r\n"),
        ],
        different: [
            Pair(#"{"model":"m"}"#, #"{"model":"n"}"#), Pair(.toClient, "data: 1\n\n", "data: 2\n\n"),
            Pair(.toClient, "data: 1\n\n", "event: a\ndata: 1\n\n"),
            Pair(.toClient, "data: 1\n\n", "id: 1\ndata: 1\n\n"),
        ],
        readsAnything: true)
}
