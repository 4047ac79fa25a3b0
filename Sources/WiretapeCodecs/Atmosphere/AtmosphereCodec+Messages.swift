internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension AtmosphereCodec {
    /// A message: JSON is compared as JSON, anything else byte for byte. Its length is none of its meaning.
    /// - Parameter bytes: with the length, when it has one.
    func message(
        _ content: ArraySlice<UInt8>, of bytes: ArraySlice<UInt8>, _ direction: Direction, _ opcode: Opcode
    ) -> Message {
        let bytes = Array(bytes)
        let content = Array(content)
        if content == beat, direction == .toClient || (handshake?.clientHeartbeat ?? 0) > 0 {
            return Message(
                direction: direction, role: .keepalive, type: "Heartbeat", summary: "Heartbeat", bytes: bytes,
                opcode: opcode)
        }
        if direction == .toServer, content.elementsEqual("...ACK...".utf8) {
            return Message(
                direction: direction, role: .ack, type: "Ack", summary: "Ack", bytes: bytes, opcode: opcode)
        }
        let place = direction == .toServer ? AtmosphereCodec.place(content) : nil
        let body = place.map { Array(content[$0.body...]) } ?? content
        var value = JSONValue(plain: body)
        var shown = value["text"]?.string ?? "\(body.count) bytes \(hexText(body.prefix(32)))"
        if let json = try? JSONValue(parsing: body.span), json.members != nil || json.array != nil {
            value = json
            shown = json.text
        }
        let meaning = place.map { JSONValue.object([.init("path", .string($0.path)), .init("message", value)]) }
        let name = trackingID.map { $0.prefix(8) + " " } ?? ""
        return Message(
            direction: direction, role: direction == .toServer ? .send : .push, type: "Message", label: place?.path,
            meaning: meaning ?? value, content: value, summary: Summary.line(name + shown), bytes: bytes, opcode: opcode
        )
    }

    /// What a client sends is one message a frame or a POST, without a length.
    func said(_ bytes: [UInt8], _ opcode: Opcode) -> Message { message(bytes[...], of: bytes[...], .toServer, opcode) }

    /// `@@/path@@text`: a message to another path over the same WebSocket.
    private static func place(_ content: [UInt8]) -> (path: String, body: Int)? {
        let mark = Array("@@".utf8)
        guard content.starts(with: mark + [UInt8(ascii: "/")]) else { return nil }
        for end in content.indices.dropFirst(3).prefix(1_024) where content[end...].starts(with: mark) {
            return (String(decoding: content[2..<end], as: UTF8.self), end + 2)
        }
        return nil
    }

    /// Padding, or a message of blanks, which clients drop as well.
    mutating func blank(_ bytes: ArraySlice<UInt8>, _ opcode: Opcode) -> Message {
        if isFresh, lead.count + bytes.count <= 16_384 {
            lead += bytes
            if carrier == .socket { socketPadding = lead } else { learnPadding() }
        }
        return Message(
            direction: .toClient, role: .keepalive, type: "Padding", summary: "Padding \(bytes.count)",
            bytes: Array(bytes), opcode: opcode)
    }

    /// The first data of a poll or stream has come: what stands before it is the padding, and may be nothing. The first
    /// poll or stream of a session decides.
    mutating func begun() {
        if isFresh { learnPadding() }
        isFresh = false
        isPaddingOpen = false
    }

    private mutating func learnPadding() {
        guard carrier == .poll || carrier == .stream, padding == nil || isPaddingOpen else { return }
        padding = lead
        isPaddingOpen = isFresh
    }

    mutating func greeted(
        _ found: AtmosphereHandshake, _ bytes: ArraySlice<UInt8>, _ hasLength: Bool, _ opcode: Opcode
    ) -> Message {
        awaitsHandshake = false
        begun()
        handshake = found
        trackingID = found.id
        lengthsInAnyCase = hasLength == wantsLengths ? nil : hasLength
        if hasLength { sawLengths = true }
        var members: [JSONValue.Member] = []
        var text = "Handshake \(found.id)"
        switch found.form {
        case .current:
            members = [.init("heartbeat", .number(found.number)), .init("padding", .string(found.padding))]
            text += " heartbeat \(found.number) ms padding \(found.padding)"
        case .dated: text += " at \(found.number)"
        case .bare: break
        }
        return Message(
            direction: .toClient, role: .handshake, type: "Handshake", chain: Chain(found.id, origin: .toClient),
            meaning: .object(members),
            content: .object([.init("trackingId", .string(found.id))] + members), summary: Summary.line(text),
            bytes: Array(bytes), opcode: opcode)
    }
}
