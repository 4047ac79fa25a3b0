/// permessage-deflate as two peers agreed on it (RFC 7692 section 7.1), or as one of them offers it.
package struct DeflateParameters: Hashable, Sendable {
    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false
    /// 8 to 15.
    package var serverMaxWindowBits = 15
    package var clientMaxWindowBits = 15

    package init() {}

    /// The window that the sender of `direction` uses.
    package func windowBits(_ direction: Direction) -> Int {
        direction == .toServer ? clientMaxWindowBits : serverMaxWindowBits
    }

    /// Whether the sender of `direction` begins each message with an empty window.
    package func resetsContext(_ direction: Direction) -> Bool {
        direction == .toServer ? clientNoContextTakeover : serverNoContextTakeover
    }

    /// What a response's `Sec-WebSocket-Extensions` fields agree on: nil when permessage-deflate is not among them or is
    /// spelled wrongly. Other extensions are ignored.
    package init?(accepted fields: [String]) {
        guard let first = Self.offers(fields).first, let first else { return nil }
        self = first
    }

    /// The offers of permessage-deflate in a request's `Sec-WebSocket-Extensions` fields, in order of preference; nil stands
    /// for one that must be declined: an unknown, repeated or invalid parameter.
    package static func offers(_ fields: [String]) -> [DeflateParameters?] {
        fields.flatMap { $0.split(separator: ",") }.compactMap { offer in
            let parts = offer.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
            guard parts.first == "permessage-deflate" else { return nil }
            return .some(parse(parts.dropFirst()))
        }
    }

    private static func parse(_ items: some Sequence<String>) -> DeflateParameters? {
        var parameters = DeflateParameters()
        var seen: Set<String> = []
        for item in items {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = pair[0].trimmingBlanks()
            var value = pair.count > 1 ? pair[1].trimmingBlanks() : nil
            if let quoted = value, quoted.count >= 2, quoted.hasPrefix("\""), quoted.hasSuffix("\"") {
                value = String(quoted.dropFirst().dropLast())
            }
            guard seen.insert(name).inserted else { return nil }
            switch name {
            case "server_no_context_takeover" where value == nil: parameters.serverNoContextTakeover = true
            case "client_no_context_takeover" where value == nil: parameters.clientNoContextTakeover = true
            case "server_max_window_bits":
                guard let value, let bits = windowBits(value) else { return nil }
                parameters.serverMaxWindowBits = bits
            case "client_max_window_bits":
                // Without a value it only says that the server may choose.
                guard let value else { continue }
                guard let bits = windowBits(value) else { return nil }
                parameters.clientMaxWindowBits = bits
            default: return nil
            }
        }
        return parameters
    }

    private static func windowBits(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), text.first != "0", let bits = Int(text) else {
            return nil
        }
        return (8...15).contains(bits) ? bits : nil
    }
}
