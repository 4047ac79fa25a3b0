internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeWire

/// Content codings: a codec sees what a body means. Single bodies are decoded when they are whole, streamed ones as they
/// come. A body that cannot be decoded stays as it was, with the header that says so.
extension SessionReader {
    /// The head of an answer has come, whose pieces mean something by themselves.
    mutating func beginDecoding(_ x: UInt32, at place: Place) {
        guard let exchange = connections[place.connection]?.exchanges[x], exchange.framing != nil,
            let codings = exchange.opening.response?.headers.contentCodings, !codings.isEmpty
        else { return }
        let decoder = ContentDecoder(codings)
        connections[place.connection]?.exchanges[x]?.decoder = decoder
        guard decoder == nil else { return }
        if known(exchange.names)?.kind == .operation {
            // Read as one body, which is then none of the protocol's: it is given as it was.
            connections[place.connection]?.exchanges[x]?.framing = nil
        } else {
            connections[place.connection]?.exchanges[x]?.undecoded = .unknown(codings.text)
        }
    }

    /// A piece of an answer, as it was received.
    mutating func answerPiece(_ x: UInt32, _ bytes: [UInt8], at place: Place, into out: inout [DecodedMessage]) {
        guard let exchange = connections[place.connection]?.exchanges[x], exchange.framing != nil, !place.isUnframed
        else { return piece(x, .toClient, bytes, at: place, into: &out) }
        if let fault = exchange.undecoded {
            if !exchange.isGivenUp { giveUp(x, fault, at: place, into: &out) }
            return
        }
        guard let decoder = exchange.decoder else { return piece(x, .toClient, bytes, at: place, into: &out) }
        hasDecoded = true
        var used = 0
        while true {
            var plain: [UInt8] = []
            let outcome = decoder.feed(bytes.span, used: &used, limit: SessionReader.decodedStep, into: &plain)
            if !plain.isEmpty { piece(x, .toClient, plain, at: place, into: &out) }
            switch outcome {
            case .more: return
            case .full: continue
            case .bad(let fault): return giveUp(x, fault, at: place, into: &out)
            }
        }
    }

    private static let decodedStep = 1 << 20

    /// The rest of a streamed answer cannot be read, nor can the session be played.
    private mutating func giveUp(
        _ x: UInt32, _ fault: ContentDecoder.Fault, at place: Place, into out: inout [DecodedMessage]
    ) {
        connections[place.connection]?.exchanges[x]?.undecoded = fault
        connections[place.connection]?.exchanges[x]?.isGivenUp = true
        guard let exchange = connections[place.connection]?.exchanges[x] else { return }
        note(x, .toClient, exchange.opening.response?.headers ?? [], fault, isBegun: exchange.body != nil)
        unreadable(x, fault, at: place, into: &out)
    }

    /// The recorder has removed a coding from the beginning of an answer and left it on the rest: what was received is not on
    /// the tape any more.
    mutating func staysEncoded(
        _ x: UInt32, of connection: UInt32, at place: Place, into out: inout [DecodedMessage]
    ) {
        var there = place
        there.connection = connection
        guard let exchange = connections[connection]?.exchanges[x] else { return }
        connections[connection]?.exchanges[x]?.isCut = true
        guard exchange.framing != nil, !exchange.isGivenUp else { return }
        connections[connection]?.exchanges[x]?.undecoded = .bad(.corrupt)
        connections[connection]?.exchanges[x]?.isGivenUp = true
        unreadable(x, .bad(.corrupt), at: there, into: &out)
    }

    /// A request is whole.
    mutating func decodeRequest(_ x: UInt32, at place: Place) {
        guard var exchange = connections[place.connection]?.exchanges[x], !exchange.isCut,
            !exchange.opening.request.headers.contentCodings.isEmpty
        else { return }
        let limit =
            exchange.names.contains { $0.kind == .send }
            ? SessionReader.messageLimit : SessionReader.exchangeBodyLimit
        let fault = SessionReader.decode(
            &exchange.opening.requestBody, &exchange.opening.request.headers, isPlain: exchange.isRequestUnframed,
            limit: limit)
        hasDecoded = !exchange.isRequestUnframed
        if let fault { note(x, .toServer, exchange.opening.request.headers, fault) }
        connections[place.connection]?.exchanges[x]?.opening = exchange.opening
    }

    /// The answer of an exchange is whole.
    mutating func decodeAnswer(_ x: UInt32, _ exchange: inout Exchange) {
        guard var head = exchange.opening.response, !exchange.isCut, !head.headers.contentCodings.isEmpty else {
            return
        }
        guard exchange.framing == nil else {
            if let decoder = exchange.decoder, exchange.undecoded == nil, !decoder.isAtEnd {
                note(x, .toClient, head.headers, .truncated, isBegun: true)
            }
            return
        }
        var limit = SessionReader.exchangeBodyLimit
        switch known(exchange.names)?.kind {
        case .poll, .operation: limit = SessionReader.messageLimit
        case .negotiate, .upgrade, .send, .stream, .end, .refresh, .preflight, .other, nil: break
        }
        exchange.undecoded = SessionReader.decode(
            &exchange.opening.responseBody, &head.headers, isPlain: exchange.isAnswerUnframed, limit: limit)
        exchange.opening.response = head
        hasDecoded = !exchange.isAnswerUnframed
        if let fault = exchange.undecoded { note(x, .toClient, head.headers, fault) }
    }

    /// - Parameter isPlain: the tape has the body as its meaning, whatever the head says.
    private static func decode(
        _ body: inout [UInt8], _ headers: inout [HeaderField], isPlain: Bool, limit: Int
    ) -> ContentDecoder.Fault? {
        guard !body.isEmpty else { return nil }
        do throws(ContentDecoder.Fault) {
            if !isPlain { body = try ContentDecoder.whole(body, headers.contentCodings, limit: limit) }
            headers = headers.without(nil)
            return nil
        } catch {
            return error
        }
    }

    private mutating func note(
        _ x: UInt32, _ direction: Direction, _ headers: [HeaderField], _ fault: ContentDecoder.Fault,
        isBegun: Bool = false
    ) {
        undecoded.append(
            UndecodedBody(
                exchange: x, direction: direction, codings: headers.contentCodings, fault: fault, isBegun: isBegun))
    }
}
