internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// The values of one line, by key. What a kind does not use is not looked at again.
package struct TapeFields {
    package var time: UInt64?
    package var connection: UInt64?
    package var kind: String?
    var direction: Direction?
    package var x: UInt64?
    package var n: UInt64?
    var opcode: Opcode?
    package var payload: [UInt8]?
    /// How the payload came; nil: as text.
    var encoding: Encoding?
    package var after: String?
    package var strings: [(key: TapeKey, value: String)] = []
    package var numbers: [(key: TapeKey, value: UInt64)] = []
    var headers: [HeaderField]?
    var trailers: [HeaderField] = []
    package var frames: [Int] = []
    var tls: TapeEvent.TLSInfo?
    var isStreamed = false
    package var isInterim = false
    package var isDeflated = false
    var isLast = false

    enum Encoding { case json, base64 }

    package init(parsing b: Span<UInt8>) throws(TapeLineFault) {
        var at = 0
        try LineScan.expect(UInt8(ascii: "{"), b, &at)
        if !LineScan.take(UInt8(ascii: "}"), b, &at) {
            repeat { try member(b, &at) } while LineScan.take(UInt8(ascii: ","), b, &at)
            try LineScan.expect(UInt8(ascii: "}"), b, &at)
        }
        LineScan.skipBlanks(b, &at)
        guard at == b.count else { throw TapeLineFault("more behind the event", at: at) }
    }

    package func string(_ key: TapeKey) -> String? { strings.last { $0.key == key }?.value }

    package func number(_ key: TapeKey) -> UInt64? { numbers.last { $0.key == key }?.value }

    private mutating func member(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) {
        LineScan.skipBlanks(b, &at)
        guard at < b.count, b[at] == UInt8(ascii: "\"") else { throw TapeLineFault("expected a key", at: at) }
        let start = at
        try LineScan.skip(b, &at)
        let key = TapeKey(b, start + 1..<at - 1)
        try LineScan.expect(UInt8(ascii: ":"), b, &at)
        guard let key else { return try LineScan.skip(b, &at) }
        LineScan.skipBlanks(b, &at)
        try value(of: key, b, &at)
    }

    private mutating func value(of key: TapeKey, _ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) {
        let start = at
        switch key {
        case .t: time = try LineScan.number(b, &at, key)
        case .c: connection = try LineScan.number(b, &at, key)
        case .x: x = try LineScan.number(b, &at, key)
        case .n: n = try LineScan.number(b, &at, key)
        case .e: kind = try LineScan.string(b, &at)
        case .d:
            switch try LineScan.string(b, &at) {
            case ">": direction = .toServer
            case "<": direction = .toClient
            default: throw TapeLineFault("\"d\" is neither \">\" nor \"<\"", at: start)
            }
        case .op:
            opcode = Opcode(rawValue: try LineScan.string(b, &at))
            guard opcode != nil else { throw TapeLineFault("\"op\" is neither \"text\" nor \"binary\"", at: start) }
        case .text: payload = try LineScan.bytes(b, &at)
        case .b64:
            encoding = .base64
            let text = try LineScan.bytes(b, &at)
            payload = Base64.decode(text.span)
            guard payload != nil else { throw TapeLineFault("\"b64\" is not base64", at: start) }
        case .json:
            encoding = .json
            payload = try json(b, &at)
        case .headers: headers = try TapeFields.fields(b, &at, key)
        case .trailers: trailers = try TapeFields.fields(b, &at, key)
        case .frames: frames = try TapeFields.numbers(b, &at, key)
        case .tls: tls = try TapeFields.tlsInfo(b, &at)
        case .stream: isStreamed = try LineScan.bool(b, &at, key)
        case .interim: isInterim = try LineScan.bool(b, &at, key)
        case .deflated: isDeflated = try LineScan.bool(b, &at, key)
        case .last: isLast = try LineScan.bool(b, &at, key)
        case .after: after = try LineScan.string(b, &at)
        case .status, .code, .ref, .delivered, .line, .lost, .bytes, .events, .connections,
            .level:
            numbers.append((key, try LineScan.number(b, &at, key)))
        case .from, .to, .upstream, .session, .version, .alpn, .sni, .client, .method, .target, .reason, .coding, .by,
            .how,
            .why, .rule, .action, .started:
            strings.append((key, try LineScan.string(b, &at)))
        }
    }

    /// A value as compact text: members in their order, numbers as they are spelled.
    private func json(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) -> [UInt8] {
        let start = at
        try LineScan.skip(b, &at)
        do {
            var out: [UInt8] = []
            try JSONValue(parsing: b.extracting(start..<at)).write(into: &out)
            return out
        } catch {
            throw TapeLineFault("\"json\": \(error.reason)", at: start + error.offset)
        }
    }

    private static func fields(_ b: Span<UInt8>, _ at: inout Int, _ key: TapeKey) throws(TapeLineFault)
        -> [HeaderField]
    {
        try LineScan.expect(UInt8(ascii: "["), b, &at)
        var fields: [HeaderField] = []
        guard !LineScan.take(UInt8(ascii: "]"), b, &at) else { return fields }
        repeat {
            try LineScan.expect(UInt8(ascii: "["), b, &at)
            let name = try LineScan.string(b, &at)
            try LineScan.expect(UInt8(ascii: ","), b, &at)
            fields.append(HeaderField(name, try LineScan.string(b, &at)))
            try LineScan.expect(UInt8(ascii: "]"), b, &at)
        } while LineScan.take(UInt8(ascii: ","), b, &at)
        try LineScan.expect(UInt8(ascii: "]"), b, &at)
        return fields
    }

    private static func numbers(_ b: Span<UInt8>, _ at: inout Int, _ key: TapeKey) throws(TapeLineFault) -> [Int] {
        try LineScan.expect(UInt8(ascii: "["), b, &at)
        var numbers: [Int] = []
        guard !LineScan.take(UInt8(ascii: "]"), b, &at) else { return numbers }
        repeat {
            numbers.append(Int(clamping: try LineScan.number(b, &at, key)))
        } while LineScan.take(UInt8(ascii: ","), b, &at)
        try LineScan.expect(UInt8(ascii: "]"), b, &at)
        return numbers
    }

    private static func tlsInfo(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) -> TapeEvent.TLSInfo {
        let start = at
        try LineScan.skip(b, &at)
        let fields = try TapeFields(parsing: b.extracting(start..<at))
        return TapeEvent.TLSInfo(
            version: fields.string(.version), alpn: fields.string(.alpn), sni: fields.string(.sni),
            client: fields.string(.client))
    }
}
