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

    init(_ fields: [HeaderField]) {
        for field in fields {
            // The length decides first: most fields are none of these.
            switch field.name.utf8.count {
            case 4 where equalIgnoringCase(field.name, "host"): hosts += 1
            case 6 where equalIgnoringCase(field.name, "expect"):
                if equalIgnoringCase(field.value, "100-continue") { expectsContinue = true }
            case 7 where equalIgnoringCase(field.name, "upgrade"): upgrade = upgrade ?? field.value
            case 10 where equalIgnoringCase(field.name, "connection"):
                for token in field.value.split(separator: ",") {
                    let token = token.trimmingBlanks()
                    if equalIgnoringCase(token, "close") { closes = true }
                    if equalIgnoringCase(token, "keep-alive") { keepsAlive = true }
                    if equalIgnoringCase(token, "upgrade") { connectionUpgrades = true }
                }
            case 14 where equalIgnoringCase(field.name, "content-length"): lengths.append(field.value)
            case 17 where equalIgnoringCase(field.name, "transfer-encoding"):
                hasTransferEncoding = true
                codings += field.value.split(separator: ",", omittingEmptySubsequences: false)
                    .map { $0.trimmingBlanks() }
            default: break
            }
        }
    }

    var upgradeProtocol: String? {
        connectionUpgrades ? upgrade : nil
    }

    func keepAlive(version: String) -> Bool {
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
