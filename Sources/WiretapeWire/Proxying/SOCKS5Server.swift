internal import WiretapeBytes

/// The server's part of SOCKS version 5 (RFC 1928) up to the moment at which the connection becomes the target's: a greeting
/// with no authentication, and one request to connect. Everything else is refused with the protocol's own answer.
package struct SOCKS5Server {
    /// What is to be done after bytes have come.
    package enum Outcome: Hashable, Sendable {
        /// More bytes are needed.
        case more
        /// This is written to the client, and the next bytes are awaited.
        case answer([UInt8])
        /// The client wants to reach this host: a name, or an address without brackets. ``SOCKS5Server/reply(_:)`` answers it.
        case connect(host: String, port: UInt16)
        /// This is written to the client, and the connection ends.
        case refuse([UInt8], reason: String)
    }

    /// The codes of a reply that are used here (RFC 1928 6).
    package enum Reply: UInt8, Sendable {
        case succeeded = 0
        case generalFailure = 1
        case commandNotSupported = 7
        case addressTypeNotSupported = 8
    }

    private enum State { case greeting, request, done }

    private var state = State.greeting
    /// What has come and is not whole: at most 262 bytes.
    private var held: [UInt8] = []

    package init() {}

    /// Whether a connection that begins with this byte speaks SOCKS 5.
    package static func begins(with byte: UInt8) -> Bool { byte == 5 }

    /// The bytes behind the request, which are the target's.
    package var rest: [UInt8] { held }

    /// - Parameter bytes: what has come since the last call; empty to ask what follows from what is there.
    package mutating func feed(_ bytes: Span<UInt8>) -> Outcome {
        held.append(copying: bytes)
        switch state {
        case .greeting: return greeting()
        case .request: return request()
        case .done: return .more
        }
    }

    /// Version, count, methods. Only "no authentication" (0) is served.
    private mutating func greeting() -> Outcome {
        guard let version = held.first else { return .more }
        guard version == 5 else { return .refuse([5, 0xff], reason: "it does not speak SOCKS 5") }
        guard held.count >= 2, held.count >= 2 + Int(held[1]) else { return .more }
        let methods = held[2..<2 + Int(held[1])]
        held.removeFirst(2 + methods.count)
        guard methods.contains(0) else {
            state = .done
            return .refuse([5, 0xff], reason: "it offers no SOCKS 5 connection without a password")
        }
        state = .request
        return .answer([5, 0])
    }

    /// Version, command, 0, type of address, address, port.
    private mutating func request() -> Outcome {
        guard held.count >= 4 else { return .more }
        guard held[0] == 5, held[2] == 0 else {
            return end(.generalFailure, "its SOCKS request is not one of version 5")
        }
        guard held[1] == 1 else {
            return end(.commandNotSupported, "it asks SOCKS for something else than a connection (command \(held[1]))")
        }
        let start: Int
        let count: Int
        switch held[3] {
        case 1: (start, count) = (4, 4)
        case 3:
            guard held.count >= 5 else { return .more }
            (start, count) = (5, Int(held[4]))
        case 4: (start, count) = (4, 16)
        default: return end(.addressTypeNotSupported, "its SOCKS request has an unknown type of address (\(held[3]))")
        }
        guard held.count >= start + count + 2 else { return .more }
        let address = held[start..<start + count]
        let port = UInt16(held[start + count]) << 8 | UInt16(held[start + count + 1])
        let type = held[3]
        let host: String
        switch type {
        case 1: host = address.map(String.init).joined(separator: ".")
        case 4: host = Self.text(ofIPv6: Array(address))
        default: host = String(decoding: address, as: UTF8.self)
        }
        held.removeFirst(start + count + 2)
        state = .done
        guard type != 3 || Self.isName(host) else {
            return .refuse(Self.reply(.generalFailure), reason: "the host of its SOCKS request is no name")
        }
        return .connect(host: host, port: port)
    }

    private mutating func end(_ reply: Reply, _ reason: String) -> Outcome {
        state = .done
        return .refuse(Self.reply(reply), reason: reason)
    }

    /// An answer to a request. The address that it names is of no use to a client, and is 0.0.0.0:0.
    package static func reply(_ reply: Reply) -> [UInt8] { [5, reply.rawValue, 0, 1, 0, 0, 0, 0, 0, 0] }

    private static func isName(_ host: String) -> Bool {
        !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }

    /// The longest run of at least two groups of zeros is `::` (RFC 5952).
    private static func text(ofIPv6 bytes: [UInt8]) -> String {
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var best = 0..<0
        var at = 0
        while at < groups.count {
            var end = at
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - at > max(1, best.count) { best = at..<end }
            at = max(end, at + 1)
        }
        func hex(_ range: Range<Int>) -> String { groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
        guard !best.isEmpty else { return hex(0..<8) }
        return "\(hex(0..<best.lowerBound))::\(hex(best.upperBound..<8))"
    }
}
