import WiretapeBytes
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// The language of both toy protocols, a line a message: the client says `ask ID WORD`, the server `reply ID WORD` and, by
/// itself, `news WORD`.
enum ToyWords {
    static func message(_ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction) -> Message {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
        let role: Role
        switch (words.first, direction, words.count) {
        case ("ask", .toServer, 3): role = .request
        case ("reply", .toClient, 3): role = .reply
        case ("news", .toClient, 2): role = .push
        default: return .opaque(bytes, direction, opcode: opcode, reason: "not a word of the toy")
        }
        let word = JSONValue.string(words[words.count - 1])
        return Message(
            direction: direction, role: role, type: words[0],
            chain: words.count == 3 ? Chain(words[1], origin: .toServer) : nil, meaning: word, content: word,
            summary: words[words.count - 1], bytes: bytes, opcode: opcode)
    }

    /// A recorded message with the id that the live client gave its chain.
    static func bytes(of message: Message, ids: IDMap) -> [UInt8] {
        guard let chain = message.chain, let word = message.content.string else { return message.bytes }
        return Array("\(message.type) \(ids.live(chain)) \(word)".utf8)
    }
}
