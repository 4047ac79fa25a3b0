package import WiretapeBytes
package import WiretapeWire

/// Messages of one direction that wait: for others to pass them, or for a moment.
package struct ParkedMessages: Sendable {
    package struct One: Sendable {
        package var bytes: [UInt8]
        package var opcode: Opcode
        /// As a WebSocket's came.
        package var isDeflated: Bool
        /// The maximum byte count of a WebSocket frame. Nil if no `fragment` applies.
        package var frameSize: Int?
        /// Of the script that is replayed; nil: it is none of it, or passes live.
        package var step: Int?
        fileprivate var left: Int
        fileprivate var until: WireInstant
    }

    private var waiting: [One] = []

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty }

    /// Bytes that wait.
    package var count: Int { waiting.reduce(0) { $0 + $1.bytes.count } }

    package mutating func park(
        _ bytes: [UInt8], _ opcode: Opcode, isDeflated: Bool = false, frameSize: Int? = nil, step: Int? = nil,
        window: Int, until: WireInstant
    ) {
        waiting.append(
            One(
                bytes: bytes, opcode: opcode, isDeflated: isDeflated, frameSize: frameSize, step: step, left: window,
                until: until))
    }

    /// So many messages have passed those that wait.
    package mutating func passed(_ count: Int = 1) {
        for i in waiting.indices { waiting[i].left = max(0, waiting[i].left - count) }
    }

    /// Those whose time has come, in their order.
    package mutating func takeReleased(at now: WireInstant) -> [One] {
        guard !waiting.isEmpty else { return [] }
        let due = waiting.filter { $0.left <= 0 || $0.until <= now }
        waiting.removeAll { $0.left <= 0 || $0.until <= now }
        return due
    }

    /// All of them: nothing follows that could pass.
    package mutating func takeAll() -> [One] {
        defer { waiting = [] }
        return waiting
    }

    /// Steps of the script that wait.
    package var steps: [Int] { waiting.compactMap(\.step) }

    /// When the patience of one ends.
    package var next: WireInstant? { waiting.isEmpty ? nil : waiting.lazy.map { $0.until }.min() }
}
