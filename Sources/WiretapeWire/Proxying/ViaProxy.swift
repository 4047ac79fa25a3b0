package import WiretapeBytes

/// A proxy through which upstreams are reached: `http://HOST:PORT` or `socks5://HOST:PORT`, with `USER:PASSWORD@` where it wants
/// them. What it prints has neither.
package struct ViaProxy: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable { case http, socks5 }

    package let kind: Kind
    /// A name, or an address without brackets.
    package let host: String
    package let port: UInt16
    let user: [UInt8]?
    let password: [UInt8]

    package init(parsing text: String) throws(OptionError) {
        guard let mark = text.firstRange(of: "://") else { throw Self.wrong("it has no scheme") }
        switch text[..<mark.lowerBound].lowercased() {
        case "http": kind = .http
        case "socks5", "socks5h": kind = .socks5
        default: throw Self.wrong("its scheme is neither http nor socks5")
        }
        var rest = text[mark.upperBound...]
        if let at = rest.lastIndex(of: "@") {
            let both = rest[..<at]
            let colon = both.firstIndex(of: ":") ?? both.endIndex
            user = Array(percentDecoded(both[..<colon]).utf8)
            password = Array(percentDecoded(both[colon...].dropFirst()).utf8)
            rest = rest[rest.index(after: at)...]
        } else {
            user = nil
            password = []
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let target = ForwardTarget(authority: String(rest)) else { throw Self.wrong("it has no HOST:PORT") }
        if kind == .socks5, let user, user.isEmpty || user.count > 255 || password.isEmpty || password.count > 255 {
            throw Self.wrong("SOCKS 5 takes a name and a password of 1 to 255 bytes")
        }
        host = target.host
        port = target.port
    }

    /// What was written may have a password: it is not said again.
    private static func wrong(_ why: String) -> OptionError {
        OptionError(
            "--via: \(why); write http://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ before HOST where it wants them"
        )
    }

    package var description: String { "\(kind.rawValue)://\(ForwardTarget(host: host, port: port).name(isTLS: false))" }

    /// The value of `Proxy-Authorization` (RFC 7617); nil: it wants none.
    package var authorization: String? {
        user.map { user in
            let both = user + [UInt8(ascii: ":")] + password
            return "Basic \(Base64.encode(both.span))"
        }
    }
}

/// The client's part of asking a proxy for a way to a host: an HTTP `CONNECT`, or SOCKS 5 with a name that the proxy looks up
/// (RFC 1928), and a password where there is one (RFC 1929).
package struct ViaHandshake {
    package enum Outcome: Hashable, Sendable {
        /// More bytes are needed.
        case more
        /// This is written to the proxy, and the next bytes are awaited.
        case send([UInt8])
        /// The way is open; these bytes are the host's already.
        case open(rest: [UInt8])
        case refused(String)
    }

    private enum State { case method, password, reply, head, done }

    private let via: ViaProxy
    private let target: ForwardTarget
    private var state: State
    /// What has come and is not whole.
    private var held: [UInt8] = []

    /// The head of an answer to CONNECT that is longer is none.
    private static let headLimit = 16 << 10

    package init(_ via: ViaProxy, to target: ForwardTarget) {
        self.via = via
        self.target = target
        state = via.kind == .http ? .head : .method
    }

    /// The first bytes to the proxy.
    package var greeting: [UInt8] {
        guard via.kind == .http else { return via.user == nil ? [5, 1, 0] : [5, 2, 0, 2] }
        let shown = target.host.contains(":") ? "[\(target.host)]" : target.host
        var text = "CONNECT \(shown):\(target.port) HTTP/1.1\r\nHost: \(shown):\(target.port)\r\n"
        if let authorization = via.authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        return Array("\(text)\r\n".utf8)
    }

    /// - Parameter bytes: what has come since the last call.
    package mutating func feed(_ bytes: Span<UInt8>) -> Outcome {
        held.append(copying: bytes)
        switch state {
        case .head: return head()
        case .method: return method()
        case .password: return granted()
        case .reply: return reply()
        case .done: return .more
        }
    }

    private mutating func head() -> Outcome {
        guard let end = held.firstRange(of: Array("\r\n\r\n".utf8)) else {
            guard held.count <= Self.headLimit else { return refuse("answers CONNECT with no head") }
            return .more
        }
        let line = String(decoding: held.prefix { $0 != 0x0d }, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            return refuse("does not answer CONNECT in HTTP")
        }
        guard 200..<300 ~= status else {
            let hint = status == 407 ? "; it wants USER:PASSWORD@ in --via" : ""
            return refuse("answers \(status) to CONNECT\(hint)")
        }
        state = .done
        return .open(rest: Array(held[end.upperBound...]))
    }

    private mutating func method() -> Outcome {
        guard held.count >= 2 else { return .more }
        guard held[0] == 5 else { return refuse("does not speak SOCKS 5") }
        let method = held[1]
        held.removeFirst(2)
        switch method {
        case 0:
            state = .reply
            return .send(request)
        case 2 where via.user != nil:
            state = .password
            let user = via.user ?? []
            return .send([1, UInt8(user.count)] + user + [UInt8(via.password.count)] + via.password)
        default:
            return refuse("takes none of the ways to log in that were offered; it may want USER:PASSWORD@ in --via")
        }
    }

    private mutating func granted() -> Outcome {
        guard held.count >= 2 else { return .more }
        guard held[1] == 0 else { return refuse("refuses the name and the password of --via") }
        held.removeFirst(2)
        state = .reply
        return .send(request)
    }

    private var request: [UInt8] {
        let port = [UInt8(target.port >> 8), UInt8(target.port & 0xff)]
        if let address = Self.address(target.host) { return [5, 1, 0, address.count == 4 ? 1 : 4] + address + port }
        let name = Array(target.host.utf8.prefix(255))
        return [5, 1, 0, 3, UInt8(name.count)] + name + port
    }

    private mutating func reply() -> Outcome {
        guard held.count >= 5 else { return .more }
        guard held[0] == 5 else { return refuse("does not answer in SOCKS 5") }
        guard held[1] == 0 else { return refuse("answers: \(Self.reason(held[1]))") }
        let count: Int
        switch held[3] {
        case 1: count = 4
        case 3: count = 1 + Int(held[4])
        case 4: count = 16
        default: return refuse("answers with an unknown type of address (\(held[3]))")
        }
        guard held.count >= 6 + count else { return .more }
        state = .done
        return .open(rest: Array(held[(6 + count)...]))
    }

    private mutating func refuse(_ why: String) -> Outcome {
        state = .done
        return .refused("the proxy \(via) \(why)")
    }

    /// The bytes of a numeric address; nil: it is a name.
    private static func address(_ host: String) -> [UInt8]? {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        if parts.count == 4, !parts.contains(nil) { return parts.compactMap(\.self) }
        guard host.contains(":") else { return nil }
        let halves = host.components(around: "::")
        let front = groups(halves[0]), back = halves.count == 2 ? groups(halves[1]) : []
        guard let front, let back else { return nil }
        let missing = 8 - front.count - back.count
        guard halves.count == 2 ? missing >= 1 : missing == 0 else { return nil }
        return (front + Array(repeating: 0, count: missing) + back).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }

    private static func groups(_ text: Substring) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { UInt16($0, radix: 16) }
        return parts.contains(nil) ? nil : parts.compactMap(\.self)
    }

    /// RFC 1928 6.
    private static func reason(_ code: UInt8) -> String {
        switch code {
        case 1: "general failure"
        case 2: "not allowed by its rules"
        case 3: "network unreachable"
        case 4: "host unreachable"
        case 5: "connection refused"
        case 6: "TTL expired"
        case 7: "command not supported"
        case 8: "address type not supported"
        default: "failure \(code)"
        }
    }
}

extension String {
    /// What stands before a mark and behind it; the whole when it is not there.
    fileprivate func components(around mark: String) -> [Substring] {
        firstRange(of: mark).map { [self[..<$0.lowerBound], self[$0.upperBound...]] } ?? [self[...]]
    }
}
