import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

extension ContractSamples {
    /// Both hub protocols, over WebSockets, event streams and long polling.
    static let signalR = ContractSamples(
        codec: CodecEntry(SignalRCodec.self), framing: .records,
        tapes: FixtureTape.signalR + [
            "signalr/aspnet10-js-longpolling", "signalr/aspnetcore-js-sse", "signalr/signalr-signalrcore-sse",
            "signalr/aspnet10-js-redirect-token", "recordings/messagepack-lp",
        ],
        opening: upgrade("/hub?id=x"),
        equal: [
            hub(
                #"{"type":1,"target":"Send","arguments":[1,"a"]}"#,
                #" { "arguments": [1.0, "\u0061"], "type": 1, "target": "Send" } "#),
            hub(
                #"{"type":1,"invocationId":"1","target":"Send","arguments":[]}"#,
                #"{"type":1,"invocationId":"7","target":"Send","arguments":[],"headers":{}}"#),
            hub(
                #"{"type":4,"invocationId":"1","target":"Counter","arguments":[3],"streamIds":["2"]}"#,
                #"{"type":4,"invocationId":"a","target":"Counter","arguments":[3],"streamIds":["b"]}"#),
            hub(.toClient, #"{"type":3,"invocationId":"1","result":null}"#, #"{"type":3,"invocationId":"2"}"#),
            Pair(
                .toServer, .binary, pack([0x95, 0x01, 0x80, 0xa1, 0x31, 0xa1, 0x53, 0x91, 0x05]),
                pack([0x95, 0x01, 0x80, 0xa2, 0x31, 0x32, 0xa1, 0x53, 0x91, 0xcc, 0x05])),
        ],
        different: [
            hub(#"{"type":1,"target":"Send","arguments":[1]}"#, #"{"type":1,"target":"Send","arguments":[2]}"#),
            hub(#"{"type":1,"target":"Send","arguments":[1]}"#, #"{"type":1,"target":"send","arguments":[1]}"#),
            hub(
                #"{"type":1,"target":"Send","arguments":[]}"#,
                #"{"type":1,"invocationId":"1","target":"Send","arguments":[]}"#),
            hub(
                #"{"type":1,"invocationId":"1","target":"A","arguments":[]}"#,
                #"{"type":4,"invocationId":"1","target":"A","arguments":[]}"#),
            hub(.toClient, #"{"type":3,"invocationId":"1","result":1}"#, #"{"type":3,"invocationId":"1","error":"x"}"#),
            Pair(
                .toServer, .binary, pack([0x95, 0x01, 0x80, 0xc0, 0xa1, 0x53, 0x91, 0x05]),
                pack([0x95, 0x01, 0x80, 0xc0, 0xa1, 0x53, 0x91, 0x06])),
        ])

    private static func hub(_ first: String, _ second: String) -> Pair { hub(.toServer, first, second) }

    private static func hub(_ direction: Direction, _ first: String, _ second: String) -> Pair {
        Pair(direction, first + "\u{1e}", second + "\u{1e}")
    }

    private static func pack(_ array: [UInt8]) -> [UInt8] { [UInt8(array.count)] + array }
}
