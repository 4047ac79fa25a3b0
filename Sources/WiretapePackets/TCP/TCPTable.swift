internal import WiretapeBytes

/// All connections of a capture.
///
/// Memory: at most ``mostConnections`` of them, the ones that were silent longest leave first; ``mostHeld`` bytes that wait for others;
/// ``mostRemembered`` bytes of what was told, for comparison with what comes again.
package struct TCPTable {
    static let mostConnections = 50_000
    static let mostHeld = 48 << 20
    static let mostRemembered = 24 << 20
    /// Ended connections that are remembered at least, so that what is late is not taken for another connection.
    static let mostEnded = 10_000

    package struct Key: Hashable {
        /// In order, so that both directions have the same key.
        package var one: TCPEndpoint
        package var two: TCPEndpoint
    }

    private var conversations: [Key: TCPConversation] = [:]
    private var stalled: Set<Key> = []
    private var ended: [Key] = []
    private var held = 0
    private var nextLook: UInt64 = 0
    /// Of conversations that left.
    private var differingBefore = 0
    /// Connections that left while they were open, since there were too many.
    package private(set) var evicted = 0
    private let make: (Key) -> any TCPStreamHandler

    /// - Parameter make: what gets the streams of a connection.
    package init(_ make: @escaping (Key) -> any TCPStreamHandler) {
        self.make = make
    }

    /// Bytes that came twice and differed the second time.
    package var differing: Int { conversations.values.reduce(differingBefore) { $0 + $1.differing } }

    private var remember: Int {
        min(16 << 10, max(256, TCPTable.mostRemembered / (4 * max(1, conversations.count))))
    }

    package mutating func take(
        _ segment: TCPSegment, from source: IPAddress, to destination: IPAddress, _ bytes: Span<UInt8>, at time: UInt64
    ) {
        look(at: time)
        let sender = TCPEndpoint(address: source, port: segment.source)
        let receiver = TCPEndpoint(address: destination, port: segment.destination)
        let key = sender < receiver ? Key(one: sender, two: receiver) : Key(one: receiver, two: sender)
        let side: TCPSide = sender < receiver ? .one : .two
        let isOpening = segment.isSyn && !segment.acknowledges
        if let old = conversations[key], isOpening, old.isAnother(segment.sequence, from: side) {
            remove(key, old)
        }
        if conversations[key] == nil {
            // What says nothing and belongs to nothing is late, or a keepalive of a connection that began before.
            guard segment.isSyn || segment.length > 0 else { return }
            makeRoom()
            conversations[key] = TCPConversation(make(key))
        }
        guard let conversation = conversations[key] else { return }
        if segment.isSyn { conversation.handler.opened(by: segment.acknowledges ? side.other : side, at: time) }
        let before = conversation.held
        let wasOver = conversation.isOver
        conversation.take(segment, bytes, from: side, at: time, remember: remember)
        held += conversation.held - before
        if conversation.isOver, !wasOver { ended.append(key) }
        if conversation.isStalled { stalled.insert(key) } else if !stalled.isEmpty { stalled.remove(key) }
        while held > TCPTable.mostHeld, let largest = stalled.max(by: { heldCount($0) < heldCount($1) }),
            heldCount(largest) > 0
        {
            // What it waits for would cost the others their memory.
            if let one = conversations[largest] { remove(largest, one) }
        }
    }

    private func heldCount(_ key: Key) -> Int { conversations[key]?.held ?? 0 }

    /// Every now and then what has been missing for too long is given up.
    private mutating func look(at time: UInt64) {
        guard !stalled.isEmpty, time >= nextLook else { return }
        nextLook = time + TCPConversation.patience / 2
        for key in stalled.sorted(by: { ($0.one, $0.two) < ($1.one, $1.two) }) {
            guard let conversation = conversations[key] else {
                stalled.remove(key)
                continue
            }
            let before = conversation.held
            conversation.passed(to: time, remember: remember)
            held += conversation.held - before
            if conversation.isOver { ended.append(key) }
            if !conversation.isStalled { stalled.remove(key) }
        }
    }

    private mutating func makeRoom() {
        if ended.count > 2 * TCPTable.mostEnded {
            for key in ended.prefix(TCPTable.mostEnded) {
                if let old = conversations[key], old.isOver { remove(key, old) }
            }
            ended.removeFirst(TCPTable.mostEnded)
        }
        guard conversations.count >= TCPTable.mostConnections else { return }
        let oldest = conversations.sorted { ($0.value.lastTime, $0.key.one) < ($1.value.lastTime, $1.key.one) }
        for (key, conversation) in oldest.prefix(TCPTable.mostConnections / 10) {
            if !conversation.isOver { evicted += 1 }
            remove(key, conversation)
        }
    }

    private mutating func remove(_ key: Key, _ conversation: TCPConversation) {
        held -= conversation.held
        if !conversation.isOver { conversation.finish(remember: remember) }
        differingBefore += conversation.differing
        conversations[key] = nil
        stalled.remove(key)
    }

    /// The capture ends.
    package mutating func finish() {
        let all = conversations.sorted {
            ($0.value.lastTime, $0.key.one, $0.key.two) < ($1.value.lastTime, $1.key.one, $1.key.two)
        }
        for (key, conversation) in all { remove(key, conversation) }
    }
}
