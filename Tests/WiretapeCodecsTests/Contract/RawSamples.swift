import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

extension ContractSamples {
    static let raw = ContractSamples(
        codec: CodecEntry(RawCodec.self), framing: .messages, tapes: ["raw/ticker"], opening: upgrade("/ticker"),
        equal: [Pair(#"{"a":1,"b":[2]}"#, #" {"b": [2.0], "a": 1}"#)],
        different: [
            Pair(#"{"a":1}"#, #"{"a":2}"#), Pair("hello", "hello "),
            Pair(.toServer, .text, Array("a".utf8), [0x61, 0xff]),
        ],
        readsAnything: true)
}
