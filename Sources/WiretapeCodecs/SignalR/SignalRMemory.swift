internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Stateful reconnect, the server's part (SignalR protocol, "Stateful reconnect"; ASP.NET Core 8 and later).
///
/// Both sides count the messages of the types 1 to 5 that they send, from 1, and keep them until the other acknowledges.
/// On a new connection each says with a Sequence which number comes next, and sends from there on what it has kept.
/// States: reading; awaiting the client's Sequence after ``reopened(at:)``; violated, which is the end.
struct SignalRMemory: SessionMemory {
    /// A counted message as it went out.
    private struct Kept: Sendable {
        var number: UInt64
        var bytes: [UInt8]
    }

    private let hubProtocol: SignalRCodec.HubProtocol
    private var kept: [Kept] = []
    /// Index of the first one that is not acknowledged: what lies before it is let go in one step now and then.
    private var first = 0
    private var keptBytes = 0
    private var sent: UInt64 = 0

    private var expected: UInt64 = 1
    private var highest: UInt64 = 0
    private var acknowledged: UInt64 = 0
    private var awaitsSequence = false

    private(set) var acknowledgeAt: WireInstant?
    private(set) var violation: String?

    /// Most bytes that wait for an acknowledgement. Servers stop sending at 100,000; replay goes on and forgets the
    /// oldest, so that a client that never acknowledges cannot resume and negotiates anew.
    static let limit = 16 << 20
    /// Least time between a message and its acknowledgement.
    private static let pace: UInt64 = 1_000_000_000
    /// Most bytes of one payload when messages are sent again.
    private static let payloadLimit = 64 << 10

    init(_ hubProtocol: SignalRCodec.HubProtocol) { self.hubProtocol = hubProtocol }

    private static let counted: Set<String> = [
        "Invocation", "StreamItem", "Completion", "StreamInvocation", "CancelInvocation",
    ]

    func keeps(_ message: Message) -> Bool { SignalRMemory.counted.contains(message.type) }

    mutating func sending(_ messages: [Message], _ payload: [UInt8], _ opcode: Opcode) {
        var at = 0
        for (i, message) in messages.enumerated() {
            // The last one takes what is left: nothing is kept twice or lost when a payload was damaged on purpose.
            let end = i == messages.count - 1 ? payload.count : self.end(of: payload.span, at)
            let record = Array(payload[at..<end])
            at = end
            guard keeps(message) else { continue }
            sent += 1
            kept.append(Kept(number: sent, bytes: record))
            keptBytes += record.count
        }
        while keptBytes > SignalRMemory.limit { dropFirst() }
        compact()
    }

    mutating func receiving(_ message: Message, at now: WireInstant) -> Bool {
        if message.type == "Sequence" {
            guard let number = message.meaning["sequenceId"]?.int.flatMap({ UInt64(exactly: $0) }), violation == nil
            else {
                return false
            }
            guard number <= expected else {
                violation = "Sequence \(number) is greater than the \(max(expected, 1) - 1) messages received"
                return false
            }
            awaitsSequence = false
            // Numbers begin at 1. Servers take a 0 as the beginning, too.
            expected = max(number, 1)
            return true
        }
        guard !awaitsSequence, violation == nil else { return false }
        if message.type == "Ack" {
            guard let number = message.meaning["sequenceId"]?.int.flatMap({ UInt64(exactly: $0) }) else { return false }
            while first < kept.count, kept[first].number <= number { dropFirst() }
            compact()
            return true
        }
        guard SignalRMemory.counted.contains(message.type) else { return true }
        let number = expected
        expected += 1
        guard number > highest else { return false }
        highest = number
        if acknowledgeAt == nil { acknowledgeAt = now.advanced(by: SignalRMemory.pace) }
        return true
    }

    mutating func lost(_ message: Message) {
        guard SignalRMemory.counted.contains(message.type), highest > 0, highest == expected - 1 else { return }
        expected -= 1
        highest -= 1
        if highest <= acknowledged { acknowledgeAt = nil }
    }

    mutating func reopened(at now: WireInstant) -> [(payload: [UInt8], opcode: Opcode)] {
        awaitsSequence = true
        var payloads: [[UInt8]] = [numbered(9, first < kept.count ? kept[first].number : sent + 1)]
        for message in kept[first...] {
            if payloads[payloads.count - 1].count + message.bytes.count > SignalRMemory.payloadLimit {
                payloads.append([])
            }
            payloads[payloads.count - 1].append(copying: message.bytes.span)
        }
        return payloads.map { ($0, opcode) }
    }

    func protocolPrefixLength(of first: [UInt8]) -> Int { end(of: first.span, 0) }

    mutating func acknowledgement() -> (payload: [UInt8], opcode: Opcode)? {
        acknowledgeAt = nil
        guard highest > acknowledged else { return nil }
        acknowledged = highest
        return (numbered(8, highest), opcode)
    }

    private var opcode: Opcode { hubProtocol == .json ? .text : .binary }

    private func numbered(_ type: UInt8, _ number: UInt64) -> [UInt8] {
        switch hubProtocol {
        case .json: SignalRCodec.record([.init("type", .number(type)), .init("sequenceId", .number(number))])
        case .messagePack: SignalRPack.numbered(type, number)
        }
    }

    /// Behind the record or frame at `at`; the end of the payload when none begins there.
    private func end(of payload: Span<UInt8>, _ at: Int) -> Int {
        let end =
            hubProtocol == .json
            ? try? SignalRCodec.recordEnd(payload, at) : try? SignalRPack.body(payload, at: at).upperBound
        return end ?? payload.count
    }

    private mutating func dropFirst() {
        keptBytes -= kept[first].bytes.count
        kept[first].bytes = []
        first += 1
    }

    private mutating func compact() {
        guard first > 64, first * 2 > kept.count else { return }
        kept.removeFirst(first)
        first = 0
    }
}
