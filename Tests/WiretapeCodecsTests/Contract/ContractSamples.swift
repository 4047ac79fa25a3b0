import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

/// What a codec brings to the contract suite: a value in a file of its own, and a line in ``all``.
struct ContractSamples: Sendable {
    /// How the protocol's payloads may be cut.
    enum Framing: Sendable {
        /// One message a payload: cut or joined ones are none.
        case messages
        /// Several messages may share a payload; each is whole in it.
        case records
        /// A stream of bytes: a message may begin in one payload and end in another.
        case stream
    }

    /// Two messages of which the second legally varies the first, or does not.
    struct Pair: Sendable {
        var direction = Direction.toServer
        var opcode = Opcode.text
        var first: [UInt8]
        var second: [UInt8]

        init(_ first: String, _ second: String) { self.init(.toServer, first, second) }

        init(_ direction: Direction, _ first: String, _ second: String) {
            self.init(direction, .text, Array(first.utf8), Array(second.utf8))
        }

        init(_ direction: Direction, _ opcode: Opcode, _ first: [UInt8], _ second: [UInt8]) {
            self.direction = direction
            self.opcode = opcode
            self.first = first
            self.second = second
        }
    }

    var codec: CodecEntry
    var framing: Framing
    /// Tapes with real sessions of the codec: names below `Tests/Fixtures`, or `recordings/NAME`.
    var tapes: [String]
    /// The connection on which the pairs are said, and what is said before them.
    var opening: StreamOpening
    var before: [ContractSession.Payload] = []
    /// They match: other ids, order of members, white space.
    var equal: [Pair] = []
    /// They do not.
    var different: [Pair] = []
    /// Bytes that ``FrameCodec/write(_:ids:on:into:)`` gives are the recorded ones when no id is another.
    var isVerbatim = true
    /// Any bytes are a message of the protocol.
    var readsAnything = false

    static let all: [ContractSamples] = [
        .signalR,
        .graphQL,
        .eventflit,
        .atmosphere,
        .events,
        .raw,
        .toy,
    ]

    static func named(_ id: String) -> ContractSamples? { all.first { $0.codec.id == id } }

    /// A WebSocket's opening.
    static func upgrade(_ target: String) -> StreamOpening {
        let headers = [HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket")]
        return StreamOpening(
            request: RequestHead(method: "GET", target: target, headers: headers), response: ResponseHead(status: 101))
    }
}
