internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeWire

/// Content codings: a canonical tape has bodies as they are meant, as the recorder leaves `gzip` and `deflate`. A body that
/// cannot be decoded stays as it was received.
extension TapeCanon {
    /// An encoded body of at most so many bytes is waited for.
    static let codedLimit = 1 << 20
    /// What a body may have that was encoded.
    private static let plainLimit = 64 << 20

    /// A request with its body as it is meant. Its head says so: tapes have no word for codings that were removed from a
    /// request.
    func plain(_ head: RequestHead, _ body: [UInt8]) -> (RequestHead, [UInt8]) {
        let codings = head.headers.contentCodings
        guard !codings.isEmpty, !body.isEmpty else { return (head, body) }
        var plain = body
        if !isUnframed {
            do { plain = try ContentDecoder.whole(body, codings, limit: TapeCanon.plainLimit) } catch {
                return (head, body)
            }
        }
        var head = head
        head.headers = head.headers.without(nil)
        return (head, plain)
    }

    /// The head of an answer is there: what is to be removed from its body.
    func noteCodings(_ exchange: inout Exchange) {
        guard let head = exchange.response?.without(exchange.coding) else { return }
        let codings = head.headers.contentCodings
        guard !codings.isEmpty else { return }
        exchange.left = codings
        // Messages that nobody can read: an exchange like others.
        if case .stream = exchange.role, codings.known == nil { exchange.role = .ordinary(isNegotiation: false) }
    }

    /// The answer is written as it comes from now on. One whose pieces mean something by themselves is decoded so; of others
    /// what could not be waited for stays as it was received.
    func beginDecoding(_ exchange: inout Exchange) {
        guard let codings = exchange.left else { return }
        guard exchange.isEndless, let decoder = ContentDecoder(codings) else { return exchange.left = nil }
        exchange.decoder = decoder
        removed(&exchange)
    }

    private func removed(_ exchange: inout Exchange) {
        exchange.coding = exchange.response?.headers.contentCodings.text
        exchange.left = nil
    }

    /// A piece of an answer as it is meant.
    mutating func plain(_ bytes: [UInt8], of x: UInt32, _ event: TapeEvent) -> [UInt8] {
        guard let decoder = connections[event.connection]?.exchanges[x]?.decoder, !isUnframed else { return bytes }
        var out: [UInt8] = []
        var used = 0
        while true {
            switch decoder.feed(bytes.span, used: &used, limit: 1 << 20, into: &out) {
            case .more: return out
            case .full: continue
            case .bad(let fault):
                connections[event.connection]?.exchanges[x]?.decoder = nil
                put([CanonItem(time: event.time, what: .note(.mark("\(UndecodedBody.staysEncoded): \(fault.text)")))])
                return out + bytes[used...]
            }
        }
    }

    /// The answer is whole.
    mutating func decodeAnswer(_ x: UInt32, _ event: TapeEvent) {
        let c = event.connection
        guard var exchange = connections[c]?.exchanges[x], let codings = exchange.left, exchange.carrier == nil else {
            return
        }
        if exchange.responseBody.isEmpty || isUnframed {
            exchange.left = nil
        } else {
            do {
                exchange.responseBody = try ContentDecoder.whole(
                    exchange.responseBody, codings, limit: TapeCanon.plainLimit)
                removed(&exchange)
            } catch {
                return
            }
        }
        connections[c]?.exchanges[x] = exchange
        guard exchange.responseBody.count > TapeCanon.inlineLimit, case .ordinary(isNegotiation: false) = exchange.role
        else { return }
        beginStream(x, event)
    }
}
