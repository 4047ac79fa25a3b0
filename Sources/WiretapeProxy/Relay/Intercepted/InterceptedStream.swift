internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// A streamed answer (an event stream) on its way to the client, cut at its payloads. One with content codings goes on without
/// them: a message cannot be taken out of what is compressed together.
struct InterceptedStream {
    private var reader: BodyReader
    private let decoder: ContentDecoder?
    /// The rest of it cannot be decoded.
    private(set) var isBroken = false
    /// Bytes since the end of the last payload.
    private var raw: [UInt8] = []
    /// Bytes that have left so far.
    private var left = 0
    let codec: any FrameCodec.Type
    let transport: Transport

    /// Bytes that wait for the rest of their payload, and the reader's copy of them.
    var heldCount: Int { 2 * raw.count }

    struct Unit {
        /// As they came, with what stands before the payload.
        var raw: [UInt8]
        var payload: [UInt8]
    }

    init(
        _ framing: BodyFraming, _ codec: any FrameCodec.Type, _ transport: Transport, _ decoder: ContentDecoder? = nil
    ) {
        self.decoder = decoder
        reader = BodyReader(framing, limit: InterceptedExchange.bodyLimit)
        self.codec = codec
        self.transport = transport
    }

    /// - Returns: the payloads that `bytes` complete, and what must not wait for one: comments between events. What stands
    ///   before the first part of a multipart body is a unit without a payload, so that the body has it whatever becomes of
    ///   the part.
    mutating func feed(_ bytes: [UInt8]) -> (units: [Unit], loose: [UInt8]) {
        guard let decoder else { return cut(bytes) }
        var found: (units: [Unit], loose: [UInt8]) = ([], [])
        var used = 0
        while !isBroken {
            var plain: [UInt8] = []
            let outcome = decoder.feed(bytes.span, used: &used, limit: InterceptedExchange.bodyLimit, into: &plain)
            let (units, loose) = cut(plain)
            found.units += units
            if !loose.isEmpty { found.units.append(Unit(raw: loose, payload: [])) }
            switch outcome {
            case .more: return found
            case .full: continue
            case .bad: isBroken = true
            }
        }
        return found
    }

    /// Cuts bytes that have no content codings at their payloads.
    private mutating func cut(_ bytes: [UInt8]) -> (units: [Unit], loose: [UInt8]) {
        let found = pieces(bytes)
        left += found.units.reduce(found.loose.count) { $0 + $1.raw.count }
        return found
    }

    private mutating func pieces(_ bytes: [UInt8]) -> (units: [Unit], loose: [UInt8]) {
        var units: [Unit] = []
        var at = 0
        while true {
            switch reader.feed(bytes, from: at, of: codec) {
            case .more:
                raw += bytes[at...]
                guard raw.count > 2 * InterceptedExchange.bodyLimit || reader.isBetween else { return (units, []) }
                defer { raw = [] }
                return (units, raw)
            case .payload(let payload, var next):
                // The second half of the empty line's CRLF is its event's.
                if next > 0, next < bytes.count, bytes[next - 1] == 0x0d, bytes[next] == 0x0a { next += 1 }
                if let writer = reader.multipart, writer.endsLine, bytes[next...].elementsEqual(writer.lineEnd) {
                    // The delimiter's line ends with the part: whoever takes one away takes the other.
                    _ = reader.feed(bytes, from: next, of: codec)
                    next = bytes.count
                }
                raw += bytes[at..<next]
                if units.isEmpty, let opening = takeOpening() { units.append(opening) }
                units.append(Unit(raw: raw, payload: payload))
                raw = []
                at = next
            case .tooLong(let next):
                units.append(Unit(raw: raw + bytes[at..<next], payload: []))
                raw = []
                at = next
            case .skipped(let next):
                units.append(Unit(raw: raw + bytes[at..<next], payload: []))
                raw = []
                at = next
            }
        }
    }

    /// What of the waiting bytes stands before the first part of a multipart body.
    private mutating func takeOpening() -> Unit? {
        guard let writer = reader.multipart, left < writer.opening.count else { return nil }
        var count = min(raw.count, writer.opening.count - left)
        if writer.endsLine, raw[count...].starts(with: writer.lineEnd) { count += writer.lineEnd.count }
        defer { raw.removeFirst(count) }
        return Unit(raw: Array(raw.prefix(count)), payload: [])
    }

    /// A payload of ours, written as the server of this answer writes its own.
    func frame(_ payload: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        if let writer = reader.multipart {
            writer.part(payload.span, isLineEnded: writer.endsLine, into: &out)
            return writer.endsLine ? out + writer.lineEnd : out
        }
        codec.frame(payload.span, on: transport, into: &out)
        // A protocol whose messages bring their framing along.
        return out.isEmpty ? payload : out
    }

    /// The unit that the body has ended in the middle of, where that means something.
    mutating func takeLast() -> Unit? {
        let payload = reader.takeRest()
        return payload.isEmpty ? nil : Unit(raw: takeRest(), payload: payload)
    }

    /// What waits for the rest of its payload.
    mutating func takeRest() -> [UInt8] {
        defer { raw = [] }
        return raw
    }

    static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        var out: [UInt8] = []
        out.append(utf8: "\(String(bytes.count, radix: 16))\r\n")
        out += bytes
        out.append(utf8: "\r\n")
        return out
    }
}

extension InterceptedStream {
    /// A chunk that tells one byte more than it has.
    static func lengthened(_ bytes: [UInt8]) -> [UInt8] {
        var out = Array("\(String(bytes.count + 1, radix: 16))\r\n".utf8)
        out += bytes
        out.append(utf8: "\r\n")
        return out
    }

    static func lastChunk(_ trailers: [HeaderField]) -> [UInt8] {
        var out = Array("0\r\n".utf8)
        HTTPHeadWriter.append(fields: trailers, into: &out)
        return out
    }
}
