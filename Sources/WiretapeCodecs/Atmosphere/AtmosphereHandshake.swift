internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// The first message of a server to a client without an id, in the form of its generation.
struct AtmosphereHandshake: Hashable, Sendable {
    enum Form: Hashable, Sendable {
        /// Since 2.2: `id|clientHeartbeatMilliseconds|padding|`.
        case current
        /// 2.0 and 2.1: `id|epochMilliseconds`.
        case dated
        /// With `enforceAtmosphereProtocol=false`: the id alone.
        case bare
    }

    var id = ""
    var form = Form.current
    /// The second field: digits.
    var number = "0"
    /// What heartbeats consist of.
    var padding = "X"

    /// How often the client has to send heartbeats, in milliseconds; 0: never.
    var clientHeartbeat: Int { form == .current ? Int(number) ?? 0 : 0 }

    init() {}

    /// - Parameter isAll: nothing else stands in `text`; else what follows the last delimiter is data.
    init?(_ text: ArraySlice<UInt8>, isAll: Bool) {
        let fields = text.split(
            separator: LengthPrefixReader.delimiter, maxSplits: 3, omittingEmptySubsequences: false)
        guard let first = fields.first, (1...128).contains(first.count), first.allSatisfy(Self.isOfID) else {
            return nil
        }
        id = String(decoding: first, as: UTF8.self)
        switch fields.count {
        case 4:
            guard Self.isNumber(fields[1]), (1...8).contains(fields[2].count), !isAll || fields[3].isEmpty else {
                return nil
            }
            number = String(decoding: fields[1], as: UTF8.self)
            padding = String(decoding: fields[2], as: UTF8.self)
        case 2:
            guard Self.isNumber(fields[1]) else { return nil }
            form = .dated
            number = String(decoding: fields[1], as: UTF8.self)
        case 1:
            // A UUID, or what a canonical tape has for one.
            let isID = first.count == 36 && first.filter { $0 == UInt8(ascii: "-") }.count == 4
            guard isID || first.starts(with: "id_".utf8) else { return nil }
            form = .bare
        default: return nil
        }
    }

    /// Its bytes, with another id.
    func bytes(id: String) -> [UInt8] {
        switch form {
        case .current: Array("\(id)|\(number)|\(padding)|".utf8)
        case .dated: Array("\(id)|\(number)".utf8)
        case .bare: Array(id.utf8)
        }
    }

    // MARK: Finding it

    enum Found {
        case handshake(AtmosphereHandshake, end: Int, hasLength: Bool)
        case incomplete
        case none
    }

    /// The handshake at `at`, whether or not a length stands before it: old servers write one unasked.
    static func find(_ bytes: [UInt8], at: Int, isWhole: Bool) -> Found {
        var framer = LengthPrefixReader()
        if let (_, message) = LengthPrefixReader.number(bytes, at: at) {
            switch framer.next(bytes, at: at, isWhole: isWhole) {
            case .record(_, let end):
                return AtmosphereHandshake(bytes[message..<end], isAll: true)
                    .map { .handshake($0, end: end, hasLength: true) } ?? .none
            case .incomplete: return bytes.count - at < 256 ? .incomplete : .none
            case .damaged, .bare: return .none
            }
        }
        let rest = bytes[at...]
        if let third = rest.indices.filter({ bytes[$0] == LengthPrefixReader.delimiter }).dropFirst(2).first {
            return AtmosphereHandshake(bytes[at...third], isAll: true)
                .map { .handshake($0, end: third + 1, hasLength: false) } ?? .none
        }
        let found = AtmosphereHandshake(rest, isAll: true)
        // A date has 13 digits; fewer may go on.
        if let found, isWhole || found.form == .dated && found.number.utf8.count >= 13 {
            return .handshake(found, end: bytes.count, hasLength: false)
        }
        let isBegun = rest.allSatisfy { isOfID($0) || $0 == LengthPrefixReader.delimiter }
        return !isWhole && isBegun && rest.count < 256 ? .incomplete : .none
    }

    /// The handshake at the beginning of a streamed body, after blanks. Nil if the body has no whole handshake yet.
    static func find(inBody body: [UInt8], _ framing: BodyFraming) -> AtmosphereHandshake? {
        var reader = BodyReader(framing, limit: body.count)
        var next = 0
        while true {
            switch reader.feed(body, from: next, of: AtmosphereCodec.self) {
            case .payload(let payload, let end):
                next = end
                guard let start = payload.firstIndex(where: { ![0x20, 0x0a, 0x0d, 0x09].contains($0) }) else {
                    continue
                }
                let found = find(payload, at: start, isWhole: framing == .events)
                if case .handshake(let handshake, _, _) = found { return handshake }
                return nil
            case .tooLong(let end), .skipped(let end): next = end
            case .more: return nil
            }
        }
    }

    private static func isNumber(_ field: ArraySlice<UInt8>) -> Bool {
        (1...19).contains(field.count) && field.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
