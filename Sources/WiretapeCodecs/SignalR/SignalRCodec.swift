internal import WiretapeBytes
package import WiretapeCore

/// ASP.NET Core SignalR: the JSON hub protocol over WebSockets. `docs/protocols/signalr.md` is the reference.
///
/// A value sees both directions of a session in their order and keeps what later messages need to be understood: the
/// hub protocol that the handshake named, the targets of open chains, and the counters of a stateful reconnect.
/// Bad input is never more than one `.opaque` message: the records around it are read.
package struct SignalRCodec: FrameCodec {
    package static let id = "signalr"

    /// Ends every handshake and JSON message.
    static let separator: UInt8 = 0x1e

    enum HubProtocol: Hashable, Sendable {
        case json
        /// Named by the handshake; its messages are `.opaque` for now.
        case messagePack
    }

    var hubProtocol = HubProtocol.json
    var chains = SignalRChains()
    var counters = SignalRCounters()

    package init(_ opening: StreamOpening) {}

    /// Event streams carry text only.
    package var transports: [Transport] { hubProtocol == .json ? [.ws, .sse, .lp] : [.ws, .lp] }

    package var obstacle: String? {
        hubProtocol == .json ? nil : "speaks the messagepack hub protocol, which replay does not serve yet"
    }

    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        var at = 0
        while at < payload.count || payload.isEmpty {
            var end = at
            if hubProtocol == .json || SignalRCodec.beginsRecord(payload, at) {
                while end < payload.count, payload[end] != SignalRCodec.separator { end += 1 }
                if end < payload.count {
                    var record: [UInt8] = []
                    record.append(copying: payload.extracting(at..<end + 1))
                    out.append(read(record, opcode, direction))
                    at = end + 1
                    continue
                }
            }
            var rest: [UInt8] = []
            rest.append(copying: payload.extracting(at..<payload.count))
            out.append(.opaque(rest, direction, opcode: opcode, reason: unreadable(rest)))
            return
        }
    }

    /// Whether a JSON record (a handshake) can begin here in a MessagePack session. Read as a length prefix, `{` would be
    /// followed by the mark of an array, which is no ASCII.
    private static func beginsRecord(_ payload: Span<UInt8>, _ at: Int) -> Bool {
        at + 1 < payload.count && payload[at] == UInt8(ascii: "{") && payload[at + 1] < 0x80
    }

    private func unreadable(_ rest: [UInt8]) -> String {
        if rest.isEmpty { return "empty payload" }
        return hubProtocol == .json
            ? "not ended by the record separator (0x1e)" : "messagepack is not decoded yet"
    }

    /// One record with its separator.
    private mutating func read(_ record: [UInt8], _ opcode: Opcode, _ direction: Direction) -> Message {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(parsing: record.span.extracting(0..<record.count - 1))
        } catch {
            return .opaque(record, direction, opcode: opcode, reason: "not JSON: \(error)")
        }
        guard object.members != nil else {
            return .opaque(record, direction, opcode: opcode, reason: "not a JSON object")
        }
        let frame = SignalRFrame(object: object, bytes: record, opcode: opcode, direction: direction)
        do throws(SignalRFault) {
            return object["type"] == nil ? try handshake(frame) : try message(frame)
        } catch {
            return .opaque(record, direction, opcode: opcode, reason: error.reason)
        }
    }

    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        switch hubProtocol {
        case .json: (Array("{\"type\":6}\u{1e}".utf8), .text, 15_000_000_000)
        case .messagePack: ([0x02, 0x91, 0x06], .binary, 15_000_000_000)
        }
    }
}
