import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

extension ContractSamples {
    static let eventflit = ContractSamples(
        codec: CodecEntry(EventflitCodec.self), framing: .messages,
        tapes: [
            "eventflit/eventflit-js-ipe", "eventflit/pusher-pysher-ipe", "eventflit/pusher-js-any-sll2",
            "recordings/pusher",
            "recordings/eventflit-presence", "recordings/pysher",
        ],
        opening: upgrade("/app/key?protocol=7&client=js"),
        before: [
            .init(
                direction: .toClient,
                bytes: Array(
                    #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.2\",\"activity_timeout\":120}"}"#
                        .utf8))
        ],
        equal: [
            Pair(
                #"{"event":"pusher:subscribe","data":{"channel":"room"}}"#,
                #"{"data": {"auth": "", "channel": "room"}, "event": "pusher:subscribe"}"#),
            // The prefix is the connection's, not the message's.
            Pair(
                #"{"event":"pusher:subscribe","data":{"channel":"private-a","auth":"k:00"}}"#,
                #"{"event":"eventflit:subscribe","data":{"auth":"k:11","channel":"private-a"}}"#),
            Pair(
                #"{"event":"pusher:subscribe","data":{"channel":"presence-a","auth":"k:0","channel_data":"{\"user_id\":\"7\",\"user_info\":{}}"}}"#,
                #"{"event":"pusher:subscribe","data":{"channel":"presence-a","auth":"k:1","channel_data":"{ \"user_info\": {}, \"user_id\": \"7\" }"}}"#
            ),
            Pair(
                #"{"event":"client-typing","channel":"private-a","data":{"on":true,"n":1}}"#,
                #"{"channel":"private-a","data":{"n":1.0,"on":true},"event":"client-typing"}"#),
            Pair(
                .toClient, #"{"event":"order","channel":"room","data":"{\"id\":1,\"n\":2}"}"#,
                #"{"channel":"room","event":"order","data":"{\"n\": 2, \"id\": 1}"}"# + "\n"),
        ],
        different: [
            Pair(
                #"{"event":"pusher:subscribe","data":{"channel":"room"}}"#,
                #"{"event":"pusher:subscribe","data":{"channel":"Room"}}"#),
            Pair(
                #"{"event":"pusher:subscribe","data":{"channel":"room"}}"#,
                #"{"event":"pusher:unsubscribe","data":{"channel":"room"}}"#),
            Pair(
                #"{"event":"pusher:subscribe","data":{"channel":"presence-a","auth":"k:0","channel_data":"{\"user_id\":\"7\"}"}}"#,
                #"{"event":"pusher:subscribe","data":{"channel":"presence-a","auth":"k:0","channel_data":"{\"user_id\":\"8\"}"}}"#
            ),
            Pair(
                #"{"event":"client-typing","channel":"private-a","data":{"on":true}}"#,
                #"{"event":"client-typing","channel":"private-b","data":{"on":true}}"#),
            Pair(
                #"{"event":"client-typing","channel":"private-a","data":{"on":true}}"#,
                #"{"event":"client-typing","channel":"private-a","data":"{\"on\":true}"}"#),
            Pair(.toClient, #"{"event":"a","channel":"c","data":"x"}"#, #"{"event":"b","channel":"c","data":"x"}"#),
        ])
}
