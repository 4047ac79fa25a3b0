internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// ASP.NET Core SignalR: both hub protocols over all transports. `docs/protocols/signalr.md` is the reference.
///
/// A value sees both directions of a session in their order and keeps what later messages need to be understood: the
/// hub protocol that the handshake named, the targets of open chains, and the counters of a stateful reconnect.
/// Bad input is never more than one `.opaque` message: the records around it are read.
package struct SignalRCodec: FrameCodec {
    package static let id = "signalr"
    private static let types = MessageTypes([
        "Invocation", "StreamItem", "Completion", "StreamInvocation", "CancelInvocation", "Ping", "Close", "Ack",
        "Sequence", "Handshake",
    ])
    package static func mayBeCalled(_ name: String) -> Bool { types.contains(name) }

    /// Ends every handshake and JSON message.
    static let separator: UInt8 = 0x1e

    enum HubProtocol: Hashable, Sendable {
        case json, messagePack
    }

    /// What the client's handshake named. Nil before it: a connection that goes on without one shows it by itself.
    var named: HubProtocol?
    /// Of the client's handshake.
    var version = 0
    var chains = SignalRChains()
    var counters = SignalRCounters()
    /// Whether the counters tell repetitions.
    private(set) var tellsRepetitions = true

    var hubProtocol: HubProtocol { named ?? .json }

    package init(_ opening: StreamOpening) {}

    /// Event streams carry text only.
    package var transports: [Transport] { hubProtocol == .json ? [.ws, .sse, .lp] : [.ws, .lp] }

    package var obstacle: String? { nil }

    package mutating func decode(
        _ payload: Span<UInt8>, _ opcode: Opcode, _ direction: Direction, into out: inout [Message]
    ) {
        if named == nil, SignalRPack.begins(payload) { named = .messagePack }
        var at = 0
        while at < payload.count || payload.isEmpty {
            let isText = hubProtocol == .json || SignalRCodec.beginsRecord(payload, at)
            let end: Int
            do throws(SignalRFault) {
                end =
                    isText
                    ? try SignalRCodec.recordEnd(payload, at) : try SignalRPack.body(payload, at: at).upperBound
            } catch {
                var rest: [UInt8] = []
                rest.append(copying: payload.extracting(at..<payload.count))
                return out.append(.opaque(rest, direction, opcode: opcode, reason: error.reason))
            }
            var record: [UInt8] = []
            record.append(copying: payload.extracting(at..<end))
            do throws(SignalRFault) {
                let object = isText ? try SignalRCodec.object(of: record) : try SignalRPack.object(framed: record)
                out.append(
                    try read(SignalRFrame(object: object, bytes: record, opcode: opcode, direction: direction)))
            } catch {
                out.append(.opaque(record, direction, opcode: opcode, reason: error.reason))
            }
            at = end
        }
    }

    /// Whether a JSON record (a handshake) can begin here in a MessagePack session. Read as a length prefix, `{` would be
    /// followed by the mark of an array, which is no ASCII.
    private static func beginsRecord(_ payload: Span<UInt8>, _ at: Int) -> Bool {
        at + 1 < payload.count && payload[at] == UInt8(ascii: "{") && payload[at + 1] < 0x80
    }

    /// Behind the separator of the record at `at`.
    static func recordEnd(_ payload: Span<UInt8>, _ at: Int) throws(SignalRFault) -> Int {
        guard !payload.isEmpty else { throw SignalRFault("empty payload") }
        var end = at
        while end < payload.count, payload[end] != separator { end += 1 }
        guard end < payload.count else { throw SignalRFault("not ended by the record separator (0x1e)") }
        return end + 1
    }

    private static func object(of record: [UInt8]) throws(SignalRFault) -> JSONValue {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(parsing: record.span.extracting(0..<record.count - 1))
        } catch {
            throw SignalRFault("not JSON: \(error)")
        }
        guard object.members != nil else { throw SignalRFault("not a JSON object") }
        return object
    }

    /// One record or frame.
    private mutating func read(_ frame: SignalRFrame) throws(SignalRFault) -> Message {
        frame.object["type"] == nil ? try handshake(frame) : try message(frame)
    }

    /// Version 2 of either hub protocol is stateful reconnect: clients name it when the negotiation granted it.
    package var memory: (any SessionMemory)? { version >= 2 ? SignalRMemory(hubProtocol) : nil }

    package func withoutHistory() -> Self {
        var fresh = self
        fresh.chains = SignalRChains()
        fresh.counters = SignalRCounters()
        return fresh
    }

    /// ASP.NET Core says 1000 whatever the client said.
    package static func closingAnswer(to frame: ClosingHandshake.Frame) -> ClosingHandshake.Frame {
        ClosingHandshake.Frame(code: 1000, reason: "")
    }

    package mutating func leaveRepetitions() { tellsRepetitions = false }

    package var keepalive: (payload: [UInt8], opcode: Opcode, every: UInt64)? {
        switch hubProtocol {
        case .json: (Array("{\"type\":6}\u{1e}".utf8), .text, 15_000_000_000)
        case .messagePack: ([0x02, 0x91, 0x06], .binary, 15_000_000_000)
        }
    }
}
