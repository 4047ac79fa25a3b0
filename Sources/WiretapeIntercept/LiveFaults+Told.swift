internal import WiretapeAttempts
internal import WiretapeMessages
internal import WiretapeProtocol

extension LiveFaults {
    /// The head of an answer may tell that the exchange is an operation of which its request told nothing.
    func tell(_ exchange: LiveExchange) {
        guard let entry = codecs.told(by: exchange.opening)?.entry else { return }
        if exchange.entry?.id == entry.id { return exchange.kind = .operation }
        if let other = exchange.entry {
            guard exchange.kind == .operation || exchange.kind == .stream,
                exchange.carrier == nil
            else { return }
            if let key = other.type.sessionKey(exchange.opening), directory.owner(of: key) != nil { return }
        } else if exchange.kind != .other {
            return
        }
        exchange.kind = .operation
        exchange.entry = entry
        guard exchange.session == nil else { return }
        find(exchange, entry, on: exchange.connection, at: exchange.began)
        guard let session = exchange.session else { return }
        session.requests += 1
        if !session.isConnected { _ = session.beginAttempt(negotiates: false, at: exchange.began, origin: origin) }
    }
}
