internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol

/// The ids that a client makes, and which line each of them stands for on this connection.
struct LiveIDs {
    private let style: ClientHabits.IDStyle
    private var count = 0
    /// Recorded → live.
    var map = IDMap()
    /// Live id → the line that opened it.
    private(set) var openers: [String: Int] = [:]

    init(_ style: ClientHabits.IDStyle) { self.style = style }

    /// A new connection: what was open is forgotten.
    mutating func reconnect() {
        map = IDMap()
        openers = [:]
        if case .restarting = style { count = 0 }
    }

    /// Binds what the message opens; uploads first, as real clients count.
    mutating func open(_ message: Message, line: Int) {
        for chain in message.opens {
            let id = next()
            map.bind(chain, to: id)
        }
        guard message.role == .request, let chain = message.chain else { return }
        let id = next()
        map.bind(chain, to: id)
        openers[id] = line
    }

    private mutating func next() -> String {
        defer { count += 1 }
        switch style {
        case .counter(let first), .restarting(let first): return "\(first + count)"
        case .opaque:
            var hash = StableHash()
            hash.combine(UInt64(count))
            let digits = String(hash.value | 1 << 63, radix: 16)
            let number = String(count, radix: 16)
            let last = String(repeating: "0", count: max(0, 12 - number.count)) + number
            return
                "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-4\(digits.suffix(3))-8\(digits.prefix(3))-\(last)"
        }
    }
}

extension LiveIDs {
    /// The id under which the server asks.
    mutating func bind(_ chain: Chain, to id: String) { map.bind(chain, to: id) }
}
