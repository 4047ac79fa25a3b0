import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

extension ContractSamples {
    /// Two generations of the handshake, with lengths and without, padded and not. Without lengths any text is a message.
    static let atmosphere = ContractSamples(
        codec: CodecEntry(AtmosphereCodec.self), framing: .messages,
        tapes: [
            "atmosphere/atmosphere-longpolling", "atmosphere/atmosphere-seed-objc", "recordings/atmosphere-ws",
            "recordings/atmosphere-sse",
        ],
        opening: upgrade(
            "/chat?X-Atmosphere-tracking-id=3dbc7b52-25ad-4dbe-bc2a-8c4707c8224e&X-Atmosphere-Transport=websocket"
                + "&X-Atmosphere-TrackMessageSize=true"),
        equal: [
            Pair(#"{"author":"a","message":"hi"}"#, #"{ "message": "hi", "author": "\u0061" }"#),
            Pair(.toClient, #"9|{"a":[1]}"#, #"14|{ "a": [1.0] }"#),
        ],
        different: [
            Pair("hello", "hello "), Pair(#"{"a":1}"#, #"{"a":2}"#), Pair(.toClient, "2|hi", "2|ho"),
            Pair("@@/other@@hi", "hi"), Pair(.toServer, .text, Array("a".utf8), [0x61, 0xff]),
        ],
        readsAnything: true)
}
