package import WiretapeBytes
package import WiretapeWire

/// Messages of one direction that let others pass.
package struct ParkedMessages: Sendable {
    package struct One: Sendable {
        package var bytes: [UInt8]
        package var opcode: Opcode
        /// As a WebSocket's came.
        package var isDeflated: Bool
        fileprivate var left: Int
        fileprivate var until: WireInstant
    }

    private var waiting: [One] = []

    package init() {}

    /// Bytes that wait.
    package var count: Int { waiting.reduce(0) { $0 + $1.bytes.count } }

    package mutating func park(
        _ bytes: [UInt8], _ opcode: Opcode, isDeflated: Bool = false, window: Int, until: WireInstant
    ) {
        waiting.append(One(bytes: bytes, opcode: opcode, isDeflated: isDeflated, left: window, until: until))
    }

    /// A message has passed those that wait.
    package mutating func passed() {
        for i in waiting.indices { waiting[i].left -= 1 }
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

    /// When the patience of one ends.
    package var next: WireInstant? { waiting.map(\.until).min() }
}
