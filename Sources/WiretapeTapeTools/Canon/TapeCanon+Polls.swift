internal import WiretapeProtocol
internal import WiretapeWire

extension TapeCanon {
    // MARK: Polls

    /// The first poll, which opens the session, stays; of the others one for every message, whatever carried it.
    mutating func polled(_ exchange: Exchange, _ head: ResponseHead, _ key: Key, _ event: TapeEvent) {
        if codecs.first(where: { $0.id == key.codec })?.type.hasTrackingIDs == true {
            return polledByID(exchange, head, key, event)
        }
        keys[key]?.pending -= 1
        let carrier = carrier(of: key, event.connection)
        var farewell = keys[key]?.clientFarewell ?? false
        let said = conversation(clientFarewell: &farewell)
        keys[key]?.clientFarewell = farewell
        let isOpening = keys[key]?.hasPolled == false
        keys[key]?.hasPolled = true
        let type = codecs.first { $0.id == key.codec }?.type
        var items: [CanonItem] = []
        func poll(_ answer: TapeEvent.Kind, json: [UInt8]?) {
            let number = newExchange()
            let request = canonical(exchange.head, isSession: true)
            items.append(
                CanonItem(
                    time: event.time,
                    what: .event(.request(x: 0, request, .none), on: carrier, exchange: number, json: nil)))
            items.append(
                CanonItem(time: event.time, what: .event(answer, on: carrier, exchange: number, json: json)))
        }
        if isOpening, let answer = type?.answer(.pollOpened, to: exchange.head) {
            poll(response(answer), json: nil)
            if let opening = keys[key]?.opening {
                keys[key]?.opening = nil
                for i in items.indices { items[i].time = opening.time }
                fill(opening.slot, items)
                items = []
            }
        }
        let isUndecoded = exchange.left != nil && !exchange.responseBody.isEmpty
        if decoded.isEmpty && !exchange.responseBody.isEmpty || isUndecoded {
            // Not read as messages: kept as it is.
            poll(
                .response(
                    x: 0, canonical(head), .whole(exchange.responseBody), interim: false, coding: exchange.coding,
                    proxy: exchange.isProxys), json: nil)
        }
        for (_, payload, opcode) in said where !isUndecoded {
            guard let answer = type?.answer(.poll(payload.bytes, opcode), to: exchange.head) else { continue }
            var bare = answer
            if payload.json != nil { bare.body = [] }
            poll(response(bare), json: payload.json)
        }
        // A server's ending, or a failure; not the end of a poll that another one has taken the place of.
        let isServersEnd = head.status == 204 && keys[key]?.isEnded == false && keys[key]?.pending == 0
        if isServersEnd || !(200..<300).contains(head.status) && keys[key]?.isEnded == false {
            let kind = TapeEvent.Kind.response(
                x: 0, canonical(head), exchange.responseBody.isEmpty ? .none : .whole(exchange.responseBody),
                interim: false, coding: exchange.coding, proxy: exchange.isProxys)
            poll(kind, json: nil)
            if isServersEnd { keys[key]?.isEnded = true }
        }
        put(items)
    }

    // MARK: Cuts

    /// The connection ended, or the tape: what had no whole answer is written as far as it came.
    mutating func cut(_ c: UInt32, _ gone: (by: TapeEvent.Party, how: TapeEvent.How, time: UInt64)?) {
        let exchanges = connections[c]?.exchanges ?? [:]
        connections[c]?.exchanges = [:]
        for x in exchanges.keys.sorted() {
            guard let exchange = exchanges[x] else { continue }
            cut(exchange, x, c, gone)
        }
    }

    private mutating func cut(
        _ exchange: Exchange, _ x: UInt32, _ c: UInt32, _ gone: (by: TapeEvent.Party, how: TapeEvent.How, time: UInt64)?
    ) {
        let carrier = exchange.carrier ?? own(c, x)
        writer.describe(carrier, connections[c]?.open ?? .init())
        let farewell = gone.map {
            CanonItem(
                time: $0.time,
                what: .event(.gone(by: $0.by, how: $0.how, why: nil), on: carrier, exchange: nil, json: nil))
        }
        switch exchange.role {
        case .preflight: return
        case .poll(let key):
            keys[key]?.pending -= 1
            // A poll is left and made again all the time; without an answer only the server's fault is worth a word.
            guard let farewell, gone?.by != .client, keys[key]?.isEnded == false, keys[key]?.clientFarewell == false
            else {
                return
            }
            let request = TapeEvent.Kind.request(x: 0, canonical(exchange.head, isSession: true), .none)
            put([
                CanonItem(
                    time: exchange.time, what: .event(request, on: carrier, exchange: exchange.number, json: nil)),
                farewell,
            ])
        case .send:
            if let slot = exchange.slot { fill(slot, exchange.items) }
        case .stream(let key) where exchange.carrier != nil:
            keys[key]?.isEnded = true
            // A client leaves its stream when it is done, which the recorder may or may not live to see.
            if let farewell, gone?.by == .server, keys[key]?.clientFarewell == false { put([farewell]) }
        case .ordinary, .upgrade, .stream, .end:
            if exchange.carrier != nil {
                if let farewell { put([farewell]) }
                return
            }
            var items = [requested(exchange, on: carrier, isSession: false)]
            if let head = exchange.response {
                let kind = TapeEvent.Kind.response(
                    x: 0, canonical(head), .streamed, interim: false, coding: exchange.coding, proxy: exchange.isProxys)
                items.append(
                    CanonItem(
                        time: exchange.answered, what: .event(kind, on: carrier, exchange: exchange.number, json: nil)))
                if !exchange.responseBody.isEmpty {
                    items.append(
                        CanonItem(
                            time: exchange.answered,
                            what: .event(
                                .chunk(x: 0, .toClient, exchange.responseBody), on: carrier, exchange: exchange.number,
                                json: nil)))
                }
            }
            fill(exchange.slot ?? reserve(), items + [farewell].compactMap(\.self))
        }
    }
}
