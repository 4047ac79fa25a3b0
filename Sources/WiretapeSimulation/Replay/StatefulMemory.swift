internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// The client's part of SignalR's stateful reconnect: numbers what it says and what it hears, keeps what is not
/// acknowledged, and drops what it has heard before.
struct StatefulMemory: Sendable {
    private let isBinary: Bool
    private var kept: [(number: UInt64, bytes: [UInt8], saying: Saying)] = []
    private var lastSaid: UInt64 = 0
    private var received: UInt64 = 0
    /// The number that the next counted message of the server has.
    private var next: UInt64 = 1
    private var awaitsSequence = false
    private(set) var acknowledgeAt: WireInstant?

    static let counted: Set<String> = [
        "Invocation", "StreamItem", "Completion", "StreamInvocation", "CancelInvocation",
    ]

    init(isBinary: Bool) { self.isBinary = isBinary }

    mutating func saying(_ bytes: [UInt8], _ saying: Saying) {
        lastSaid += 1
        kept.append((lastSaid, bytes, saying))
    }

    /// - Returns: nil when the message is to be taken; empty when it is to be dropped; else what is wrong with it.
    mutating func receiving(_ message: Message, at now: WireInstant) -> String? {
        if message.type == "Sequence" {
            let number = UInt64(max(0, message.content["sequenceId"]?.int ?? 0))
            defer { awaitsSequence = false }
            next = number
            return number > received + 1 ? "Sequence \(number) after message \(received)" : ""
        }
        if message.type == "Ack" {
            let number = UInt64(max(0, message.content["sequenceId"]?.int ?? 0))
            kept.removeAll { $0.number <= number }
            return number > lastSaid ? "Ack \(number) of \(lastSaid) messages" : ""
        }
        guard StatefulMemory.counted.contains(message.type) else { return nil }
        guard !awaitsSequence else { return "" }
        let number = next
        next += 1
        guard number > received else { return "" }
        received = number
        if acknowledgeAt == nil { acknowledgeAt = now.advanced(by: 1_000_000_000) }
        return nil
    }

    mutating func acknowledgement(at now: WireInstant) -> [UInt8]? {
        guard let due = acknowledgeAt, due <= now else { return nil }
        acknowledgeAt = nil
        return own(8, received)
    }

    /// The client has a new connection: Sequence, and what is not acknowledged.
    mutating func reopened(_ generation: Int, session: Int) -> [(bytes: [UInt8], sayings: [Saying])] {
        awaitsSequence = true
        acknowledgeAt = nil
        let first = kept.first?.number ?? lastSaid + 1
        for i in kept.indices { kept[i].saying.generation = generation }
        let opening = Saying(session: session, line: nil, generation: generation, isResumed: true)
        return [(own(9, first), [opening])] + kept.map { ($0.bytes, [$0.saying]) }
    }

    /// An Ack (8) or a Sequence (9).
    private func own(_ type: UInt8, _ number: UInt64) -> [UInt8] {
        guard isBinary else { return Array("{\"type\":\(type),\"sequenceId\":\(number)}\u{1e}".utf8) }
        let big = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        return [11, 0x92, type, 0xcf] + big
    }
}
