import WiretapeCodecs
import WiretapeProtocol
import WiretapeWire

/// What the only session of a tape shows of its client: a WebSocket that is opened at 0, and what was said on it, in seconds.
func conduct(
    _ target: String, _ messages: [(second: UInt64, direction: Direction, payload: [UInt8])]
) -> ClientConduct {
    let head = RequestHead(
        method: "GET", target: target,
        headers: [HeaderField("Upgrade", "websocket"), HeaderField("Connection", "Upgrade")])
    let answer = ResponseHead(status: 101, headers: [HeaderField("Upgrade", "websocket")])
    var events = [
        TapeEvent(time: 0, connection: 1, .open(.init())),
        TapeEvent(time: 0, connection: 1, .request(x: 1, head, .none)),
        TapeEvent(
            time: 0, connection: 1, .response(x: 1, answer, .none, interim: false, coding: nil, proxy: false)),
    ]
    for one in messages {
        let kind = TapeEvent.Kind.message(one.direction, .text, one.payload, deflated: false, fragments: [])
        events.append(TapeEvent(time: one.second * 1_000_000_000, connection: 1, kind))
    }
    var reader = SessionReader(codecs: Codecs.all)
    var out: [DecodedMessage] = []
    for (i, event) in events.enumerated() { reader.read(event, number: UInt64(i + 1), into: &out) }
    return reader.finish().first?.habits.conduct ?? ClientConduct()
}
