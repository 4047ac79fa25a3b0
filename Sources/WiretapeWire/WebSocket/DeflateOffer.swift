internal import WiretapeBytes

/// permessage-deflate as one peer spells it (RFC 7692 section 7.1): an offer of a client, or a server's answer to one.
package struct DeflateOffer: Hashable, Sendable {
    /// What is said about the client's window.
    package enum ClientWindow: Hashable, Sendable {
        /// Named without a value: the server may choose.
        case open
        case bits(Int)
    }

    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false
    /// Nil where nothing is said: 15.
    package var serverMaxWindowBits: Int?
    package var clientMaxWindowBits: ClientWindow?

    package init() {}

    /// Those of `Sec-WebSocket-Extensions` fields, in order of preference; nil stands for one that must be declined: an
    /// unknown, repeated or invalid parameter. Other extensions are left out.
    package static func all(in fields: [String]) -> [DeflateOffer?] {
        fields.flatMap { $0.split(separator: ",") }.compactMap { offer in
            let parts = offer.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
            guard parts.first == "permessage-deflate" else { return nil }
            return .some(DeflateOffer(items: parts.dropFirst()))
        }
    }

    private init?(items: some Sequence<String>) {
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
            case "server_no_context_takeover" where value == nil: serverNoContextTakeover = true
            case "client_no_context_takeover" where value == nil: clientNoContextTakeover = true
            case "server_max_window_bits":
                guard let value, let bits = Self.windowBits(value) else { return nil }
                serverMaxWindowBits = bits
            case "client_max_window_bits":
                guard let value else {
                    clientMaxWindowBits = .open
                    continue
                }
                guard let bits = Self.windowBits(value) else { return nil }
                clientMaxWindowBits = .bits(bits)
            default: return nil
            }
        }
    }

    private static func windowBits(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), text.first != "0", let bits = Int(text) else {
            return nil
        }
        return (8...15).contains(bits) ? bits : nil
    }

    /// As a field's value.
    package var text: String {
        var parts = ["permessage-deflate"]
        if serverNoContextTakeover { parts.append("server_no_context_takeover") }
        if clientNoContextTakeover { parts.append("client_no_context_takeover") }
        if let serverMaxWindowBits { parts.append("server_max_window_bits=\(serverMaxWindowBits)") }
        switch clientMaxWindowBits {
        case .bits(let bits): parts.append("client_max_window_bits=\(bits)")
        case .open: parts.append("client_max_window_bits")
        case nil: break
        }
        return parts.joined(separator: "; ")
    }

    /// What the peers go by when this is the server's answer.
    package var parameters: DeflateParameters {
        var parameters = DeflateParameters()
        parameters.serverNoContextTakeover = serverNoContextTakeover
        parameters.clientNoContextTakeover = clientNoContextTakeover
        parameters.serverMaxWindowBits = serverMaxWindowBits ?? 15
        if case .bits(let bits) = clientMaxWindowBits { parameters.clientMaxWindowBits = bits }
        return parameters
    }

    // MARK: Answering

    /// The answer of a server that gave `recorded` to another client: the same, narrowed by what this client asks for.
    /// Nil: an offer that it must decline, since a client that does not name its window cannot be told a smaller one.
    package func answered(like recorded: DeflateOffer) -> DeflateOffer? {
        var answer = DeflateOffer()
        answer.serverNoContextTakeover = recorded.serverNoContextTakeover || serverNoContextTakeover
        answer.clientNoContextTakeover = recorded.clientNoContextTakeover
        let windows = [recorded.serverMaxWindowBits, serverMaxWindowBits].compactMap(\.self)
        answer.serverMaxWindowBits = windows.min()
        guard case .bits(let bits) = recorded.clientMaxWindowBits else { return answer }
        switch clientMaxWindowBits {
        case nil: return nil
        case .open: answer.clientMaxWindowBits = .bits(bits)
        case .bits(let offered): answer.clientMaxWindowBits = .bits(min(bits, offered))
        }
        return answer
    }

    /// What a server that agreed on the first of `recorded` answers to a client that offers those: nil when it agreed on
    /// nothing, or no offer allows it.
    package static func agreement(offered: [String], recorded: [String]) -> DeflateOffer? {
        guard let first = all(in: recorded).first, let first else { return nil }
        return all(in: offered).lazy.compactMap { $0?.answered(like: first) }.first
    }
}
