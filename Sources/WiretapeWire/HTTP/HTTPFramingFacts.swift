internal import WiretapeBytes

/// What the fields of a head say about the message's length and its connection.
struct HTTPFramingFacts {
    private(set) var hosts = 0
    private(set) var expectsContinue = false
    private var lengths: [String] = []
    private var codings: [String] = []
    private(set) var hasTransferEncoding = false
    private var closes = false
    private var keepsAlive = false
    private var connectionUpgrades = false
    private var upgrade: String?

    init() {}

    /// Takes one field, as bytes and, for the few that matter, as text.
    package mutating func note(_ name: Span<UInt8>, _ bytes: Span<UInt8>, _ value: String) {
        // The length decides first: most fields are none of these.
        switch name.count {
        case 4 where Self.spells(name, "host"): hosts += 1
        case 6 where Self.spells(name, "expect"):
            if Self.spells(bytes, "100-continue") { expectsContinue = true }
        case 7 where Self.spells(name, "upgrade"): upgrade = upgrade ?? value
        case 10 where Self.spells(name, "connection"): noteConnection(bytes)
        case 14 where Self.spells(name, "content-length"): lengths.append(value)
        case 17 where Self.spells(name, "transfer-encoding"):
            hasTransferEncoding = true
            codings += value.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
        default: break
        }
    }

    private mutating func noteConnection(_ bytes: Span<UInt8>) {
        var at = 0
        while at < bytes.count {
            var end = at
            while end < bytes.count, bytes[end] != UInt8(ascii: ",") { end += 1 }
            var first = at
            var last = end
            while first < last, bytes[first] == 0x20 || bytes[first] == 0x09 { first += 1 }
            while last > first, bytes[last - 1] == 0x20 || bytes[last - 1] == 0x09 { last -= 1 }
            let token = bytes.extracting(first..<last)
            switch token.count {
            case 5 where Self.spells(token, "close"): closes = true
            case 7 where Self.spells(token, "upgrade"): connectionUpgrades = true
            case 10 where Self.spells(token, "keep-alive"): keepsAlive = true
            default: break
            }
            at = end + 1
        }
    }

    /// Whether `bytes` are `word`, which is in lower case, without case.
    private static func spells(_ bytes: Span<UInt8>, _ word: String) -> Bool {
        let letters = word.utf8
        guard bytes.count == letters.count else { return false }
        var at = 0
        for letter in letters {
            let byte = bytes[at]
            guard byte == letter || byte >= 0x41 && byte <= 0x5a && byte | 0x20 == letter else { return false }
            at += 1
        }
        return true
    }

    var upgradeProtocol: String? {
        connectionUpgrades ? upgrade : nil
    }

    package func keepAlive(version: String) -> Bool {
        !closes && (version == "1.1" || keepsAlive)
    }

    func requestFraming(version: String) throws(HTTPFault) -> HTTPFraming {
        if hasTransferEncoding {
            guard lengths.isEmpty else { throw HTTPFault(400, "both Content-Length and Transfer-Encoding") }
            guard version == "1.1" else { throw HTTPFault(400, "Transfer-Encoding in HTTP/1.0") }
            guard let last = codings.last, equalIgnoringCase(last, "chunked"),
                codings.count(where: { equalIgnoringCase($0, "chunked") }) == 1
            else { throw HTTPFault(400, "Transfer-Encoding that does not end with chunked") }
            guard codings.count == 1 else { throw HTTPFault(501, "transfer coding other than chunked") }
            return .chunked
        }
        guard let first = lengths.first else { return .none }
        guard lengths.count == 1 else { throw HTTPFault(400, "several Content-Length fields") }
        return .length(try Self.length(first))
    }

    func responseFraming() throws(HTTPFault) -> HTTPFraming {
        if hasTransferEncoding {
            guard lengths.isEmpty else { throw HTTPFault(502, "both Content-Length and Transfer-Encoding") }
            switch codings.count(where: { equalIgnoringCase($0, "chunked") }) {
            case 0: return .untilEnd
            case 1: return codings.last.map { equalIgnoringCase($0, "chunked") } == true ? .chunked : .untilEnd
            default: throw HTTPFault(502, "chunked more than once")
            }
        }
        var told: UInt64?
        for value in lengths {
            for item in value.split(separator: ",", omittingEmptySubsequences: false) {
                let length = try Self.length(item.trimmingBlanks())
                guard told == nil || told == length else { throw HTTPFault(502, "differing Content-Lengths") }
                told = length
            }
        }
        return told.map { .length($0) } ?? .untilEnd
    }

    /// Digits only, below 2^63.
    private static func length(_ text: String) throws(HTTPFault) -> UInt64 {
        var value: UInt64 = 0
        guard !text.isEmpty else { throw HTTPFault(400, "invalid Content-Length") }
        for byte in text.utf8 {
            guard byte >= 0x30, byte <= 0x39 else { throw HTTPFault(400, "invalid Content-Length") }
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(byte - 0x30))
            guard !overflow, !carry, sum < 1 << 63 else { throw HTTPFault(400, "Content-Length too large") }
            value = sum
        }
        return value
    }
}
