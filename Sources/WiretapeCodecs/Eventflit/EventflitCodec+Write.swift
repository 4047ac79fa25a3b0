internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension EventflitCodec {
    /// The recorded bytes with the live socket id and the live names of channels; every other byte stays. Over HTTP a
    /// message has its frame around it.
    package func write(
        _ message: Message, ids: IDMap, on transport: Transport, into out: inout [UInt8]
    ) -> Opcode {
        guard message.role != .opaque, message.label != nil else {
            out.append(copying: message.bytes.span)
            return message.opcode
        }
        var text = JSONText(message.bytes)
        if message.role == .handshake { announce(in: &text) }
        if recordedDialect != nil, let name = message.label.flatMap({ EventflitEvent($0).name(in: dialect) }) {
            var event: [UInt8] = []
            JSONValue.writeString(name, into: &event)
            try? text.set("/event", to: event)
        }
        if let chain = message.chain, chain.origin == .toServer {
            let live = ids.live(chain)
            if live != chain.id { Self.rename(chain.id, to: live, in: &text, message) }
        }
        var bytes = text.bytes
        if let socketID, message.direction == .toClient {
            let live = ids.live(Chain(socketID, origin: .toClient))
            if live != socketID { bytes = Self.replacing(Array(socketID.utf8), with: Array(live.utf8), in: bytes) }
        }
        out += transport == .ws ? bytes : Self.wrapped(bytes, message.direction)
        return message.opcode
    }

    /// The interval of the protocol's keepalive is the one that the replay keeps.
    private func announce(in text: inout JSONText) {
        guard let every = settings.keepalive, let range = text.range(at: "/data"),
            let data = try? JSONValue(parsing: Array(text.bytes[range]))
        else { return }
        var inner = JSONText(Array((data.string ?? data.text).utf8))
        let seconds = Double(every) / 1_000_000_000
        let written = seconds == seconds.rounded() && seconds < 1e15 ? "\(UInt64(seconds))" : "\(seconds)"
        guard (try? inner.set("/activity_timeout", to: Array(written.utf8))) != nil else { return }
        var value = inner.bytes
        if data.string != nil {
            value = []
            JSONValue.writeString(String(decoding: inner.bytes, as: UTF8.self), into: &value)
        }
        try? text.set("/data", to: value)
    }

    private static func rename(
        _ recorded: String, to channel: String, in text: inout JSONText, _ message: Message
    ) {
        // An error names the channel in its text.
        if message.type == "error", let said = text.range(at: "/data/message"),
            let old = (try? JSONValue(parsing: Array(text.bytes[said])))?.string
        {
            var new: [UInt8] = []
            JSONValue.writeString(old.replacing(recorded, with: channel), into: &new)
            try? text.set("/data/message", to: new)
        }
        var name: [UInt8] = []
        JSONValue.writeString(channel, into: &name)
        for pointer in ["/channel", "/data/channel"] where text.range(at: pointer) != nil {
            try? text.set(pointer, to: name)
        }
    }

    /// Where the id is not part of a longer number.
    private static func replacing(_ id: [UInt8], with live: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        func isNumber(_ at: Int) -> Bool {
            bytes.indices.contains(at) && (bytes[at] == UInt8(ascii: ".") || (0x30...0x39).contains(bytes[at]))
        }
        var out: [UInt8] = []
        var at = 0
        while at < bytes.count {
            let end = at + id.count
            if bytes[at] == id[0], end <= bytes.count, bytes[at..<end].elementsEqual(id), !isNumber(at - 1),
                !isNumber(end)
            {
                out += live
                at = end
            } else {
                out.append(bytes[at])
                at += 1
            }
        }
        return out
    }

    /// Towards the client `data` is a text again where it was one; a text that says the same stays byte for byte.
    package static func encode(_ content: JSONValue, like message: Message) -> [UInt8]? {
        guard message.direction == .toClient, message.role != .opaque, content.members != nil,
            let recorded = try? JSONValue(parsing: message.bytes)
        else { return nil }
        var object = content
        if let data = content["data"], recorded["data"]?.string != nil || recorded["data"] == nil {
            let isSame = data == message.content["data"]
            object["data"] = isSame ? recorded["data"] : .string(data.text)
        }
        return Array(object.text.utf8)
    }

    package static func framed(_ json: [UInt8]) -> [UInt8] { json }

    package static var preamble: [(direction: Direction, opcode: Opcode, payload: [UInt8])] {
        let text =
            #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.1\",\"activity_timeout\":120}"}"#
        return [(.toClient, .text, Array(text.utf8))]
    }

    /// The digits of the id counted on, the first fastest.
    package static func vary(_ id: String, _ n: Int) -> String {
        var bytes = Array(id.utf8)
        var carry = n
        for i in bytes.indices where carry > 0 && (0x30...0x39).contains(bytes[i]) {
            let (sum, overflow) = Int(bytes[i] - 0x30).addingReportingOverflow(carry)
            guard !overflow else { continue }
            bytes[i] = 0x30 + UInt8(sum % 10)
            carry = sum / 10
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func negotiate(
        _ request: RequestHead, recorded: StreamOpening?, ids: ServerIDs, transports: [Transport]
    ) -> HTTPAnswer? { nil }

    package static func refuseNegotiate(_ request: RequestHead, reason: String) -> HTTPAnswer? { nil }

    // MARK: What the server says by itself

    /// A ping each activity timeout: servers send one when a client has been silent for so long.
    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        let seconds = min(max(activityTimeout ?? 120, 1), 86_400)
        return (control("ping", #""{}""#), .text, UInt64(seconds * 1_000_000_000))
    }

    package func pong(to keepalive: Message) -> (payload: [UInt8], opcode: Opcode)? {
        keepalive.type == "ping" ? (control("pong", #""{}""#), .text) : nil
    }

    /// `data` as JSON text.
    private func control(_ name: String, _ data: String, channel: String? = nil) -> [UInt8] {
        var out = Array(#"{"event":"\#(dialect):\#(name)""#.utf8)
        if let channel {
            out += Array(#","channel":"#.utf8)
            JSONValue.writeString(channel, into: &out)
        }
        return out + Array(#","data":\#(data)}"#.utf8)
    }

    /// A subscription gets subscription_error, one whose signature is wrong the error of servers for that, and a client
    /// event error 4301; nothing else wants an answer.
    package func refusal(of message: Message, reason: String) -> (payload: [UInt8], opcode: Opcode)? {
        guard message.direction == .toServer else { return nil }
        switch message.role {
        case .request where message.type == "subscribe":
            if let fault = message.meaning["signature"]?.string {
                let data = JSONValue.object([.init("code", .null), .init("message", .string(fault))])
                return (control("error", data.text), .text)
            }
            guard let channel = message.channel else { return nil }
            let data = JSONValue.object([
                .init("type", .string("AuthError")), .init("error", .string(reason)), .init("status", .number(403)),
            ])
            return (control("subscription_error", JSONValue.string(data.text).text, channel: channel), .text)
        case .send:
            let data = JSONValue.object([.init("code", .number(4301)), .init("message", .string(reason))])
            return (control("error", data.text), .text)
        case .handshake, .request, .reply, .push, .part, .cancel, .keepalive, .ack, .close, .opaque: return nil
        }
    }
}
