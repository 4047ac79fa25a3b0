internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension AtmosphereCodec {
    /// The same session for a client whose request this is: what that asks for decides about lengths.
    package func serving(_ opening: StreamOpening) -> Self {
        var live = self
        live.carried(by: StreamOpening(request: opening.request))
        live.awaitsHandshake = false
        return live
    }

    /// The recorded message with a length before it or without one, as the client asks.
    ///
    /// What is no UTF-8 came over a transport where servers encode text as ISO 8859-1 and leave the length out; over
    /// WebSockets and event streams they would have sent it as UTF-8.
    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        if message.role == .handshake { return greet(message, ids, into: &out) }
        let number = sawLengths ? LengthPrefixReader.number(message.bytes, at: 0) : nil
        guard message.direction == .toClient, message.role == .push,
            !(message.opcode == .binary && sawBinary)
        else {
            out.append(copying: message.bytes.span)
            return message.opcode
        }
        let content = number.map { message.bytes[$0.message...] } ?? message.bytes[...]
        let isText = isValidUTF8(Array(content).span)
        if !isText {
            guard transport == .ws || transport == .sse else {
                out += content
                return message.opcode
            }
            out += lengthened(Array(String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) })).utf8))
            return .text
        }
        // A length that its event stream made wrong stays so on event streams.
        if hasLengths, let number, transport == .sse || number.count == LengthPrefixReader.units(of: content) {
            out.append(copying: message.bytes.span)
        } else {
            out += lengthened(Array(content))
        }
        return message.opcode
    }

    /// The recorded handshake with another id, and another length where it has one.
    private func greet(_ message: Message, _ ids: IDMap, into out: inout [UInt8]) -> Opcode {
        let number = LengthPrefixReader.number(message.bytes, at: 0)
        let text = number.map { message.bytes[$0.message...] } ?? message.bytes[...]
        guard let chain = message.chain, ids.live(chain) != chain.id,
            let bytes = AtmosphereHandshake(text, isAll: true)?.bytes(id: ids.live(chain))
        else {
            out.append(copying: message.bytes.span)
            return message.opcode
        }
        if number != nil { out.append(utf8: "\(LengthPrefixReader.units(of: bytes[...]))|") }
        out += bytes
        return message.opcode
    }

    /// With its length before it, where the client wants one.
    func lengthened(_ content: [UInt8]) -> [UInt8] {
        hasLengths ? Array("\(LengthPrefixReader.units(of: content[...]))|".utf8) + content : content
    }

    /// Events have no blank behind the colon, and CR LF line ends.
    package static func frame(_ payload: Span<UInt8>, on transport: Transport, into out: inout [UInt8]) {
        guard transport == .sse else { return out.append(copying: payload) }
        out.append(literal: "data:")
        var at = 0
        while at < payload.count {
            let byte = payload[at]
            at += 1
            guard byte == 0x0a || byte == 0x0d else {
                out.append(byte)
                continue
            }
            if byte == 0x0d, at < payload.count, payload[at] == 0x0a { at += 1 }
            out.append(literal: "\r\ndata:")
        }
        out.append(literal: "\r\n\r\n")
    }

    package static func framed(_ json: [UInt8]) -> [UInt8] { json }

    package static var hasSubscriptions: Bool { false }

    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] { [] }

    package static func vary(_ id: String, _ n: Int) -> String { varied(id, n) }

    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? { nil }
}
