internal import WiretapeBytes
package import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeWire

extension AtmosphereCodec {
    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        guard direction == .toClient else { return out.append(said(bytes, opcode)) }
        if carrier == .socket, opcode == .binary {
            sawBinary = true
            return out.append(message(bytes[...], of: bytes[...], .toClient, opcode))
        }
        switch carrier {
        case .stream:
            partial.append(contentsOf: bytes)
            // A long message grows in place.
            if partial.count > bytes.count, !awaitsHandshake,
                framer.next(partial, at: 0, isWhole: false) == .incomplete
            {
                return
            }
            let all = partial
            partial = []
            read(all, isWhole: false, opcode, into: &out)
        case .script: read(AtmosphereScript.unwrap(bytes) ?? bytes, isWhole: true, opcode, into: &out)
        case .socket, .events, .poll: read(bytes, isWhole: true, opcode, into: &out)
        }
    }

    /// - Parameter isWhole: nothing that belongs to these bytes follows; else what is not whole is kept.
    private mutating func read(_ bytes: [UInt8], isWhole: Bool, _ opcode: Opcode, into out: inout [Message]) {
        var at = 0
        while at < bytes.count {
            if let end = blank(bytes, at) {
                out.append(blank(bytes[at..<end], opcode))
                at = end
                continue
            }
            if awaitsHandshake {
                switch AtmosphereHandshake.find(bytes, at: at, isWhole: isWhole) {
                case .incomplete:
                    partial = Array(bytes[at...])
                    return
                case .handshake(let found, let end, let hasLength):
                    out.append(greeted(found, bytes[at..<end], hasLength, opcode))
                    at = end
                    continue
                // Clients show it as a message.
                case .none: awaitsHandshake = false
                }
            }
            begun()
            guard hasLengths else {
                out.append(message(bytes[at...], of: bytes[at...], .toClient, opcode))
                return
            }
            switch framer.next(bytes, at: at, isWhole: isWhole) {
            case .record(let start, let end):
                sawLengths = true
                out.append(message(bytes[start..<end], of: bytes[at..<end], .toClient, opcode))
                at = end
            case .incomplete:
                partial = Array(bytes[at...])
                return
            case .bare:
                out.append(message(bytes[at...], of: bytes[at...], .toClient, opcode))
                return
            case .damaged(let reason, let end):
                // The length of an event counts line ends that event streams change.
                if carrier == .events, let (_, start) = LengthPrefixReader.number(bytes, at: at), end == bytes.count {
                    sawLengths = true
                    out.append(message(bytes[start...], of: bytes[at...], .toClient, opcode))
                } else {
                    out.append(.opaque(Array(bytes[at..<end]), .toClient, opcode: opcode, reason: reason))
                }
                at = end
            }
        }
    }

    /// The end of the blanks at `at` that clients skip: all before a record or before the first message of a poll or
    /// stream, else whole payloads of blanks. Nil: none stand there.
    private func blank(_ bytes: [UInt8], _ at: Int) -> Int? {
        var end = at
        while end < bytes.count, [0x20, 0x0a, 0x0d, 0x09].contains(bytes[end]) { end += 1 }
        guard end > at else { return nil }
        if end == bytes.count, at == 0 { return end }
        let isFirst = carrier == .stream ? isFresh : carrier == .poll || carrier == .script
        return hasLengths || awaitsHandshake || isFirst ? end : nil
    }
}
