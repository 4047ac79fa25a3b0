package import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Carries out what rules want: the same code in replay and on live traffic. What an effect is, is said here and nowhere else;
/// a new one needs a case in ``carryOut(_:on:by:)``, and a function of ``FaultPort`` only when no port can do such a thing yet.
package enum FaultExecutor {
    /// An end, or something that lasts. What is done to a message, to the answer to an upgrade or to a TLS handshake is carried out with that
    /// (``deliver(_:on:by:)``, ``RequestFate``) and does nothing here.
    package static func carryOut<Port: FaultPort>(
        _ effect: FaultEffect, on site: inout Port.Site, by port: inout Port
    ) {
        switch effect {
        case .reset, .refuse: port.end(.reset, &site)
        case .disconnect: port.end(.fin, &site)
        case .close(let code, let reason): port.end(.close(code: code, reason: reason), &site)
        case .outage(let outage): port.begin(outage, &site)
        case .respond(let answer): port.answer(answer, &site)
        case .redirectLoop:
            guard let request = port.request(site) else { return }
            port.answer(RedirectLoop.answer(request.head), &site)
        case .malformed(let part):
            guard let request = port.request(site) else { return }
            // A client of an upgrade reads no body.
            switch part ?? (request.kind == .upgrade ? .head : .body) {
            case .head: port.sendRaw(BrokenAnswer.head, &site)
            case .body: port.answer(BrokenAnswer.body, &site)
            }
        case .stall(let stall): port.stall(stall, &site)
        case .mute(let scope, let time): port.mute(scope, for: time, &site)
        case .throttle(let rate, let time): port.pace(.rate(rate), for: time, &site)
        case .slice(let size, let every, let time): port.pace(.slices(size, every: every), for: time, &site)
        case .downgrade(let transports): port.withdraw(transports, &site)
        case .expire: port.expire(&site)
        case .lifetime(let seconds): port.setLifetime(seconds, &site)
        case .wrongAccept, .wrongSubprotocol, .message, .tls: return
        }
    }

    /// What becomes of a message, from the wait before it to the end behind it.
    package static func carryOut<Port: MessagePort>(
        _ fate: MessageFate, on delivery: inout Port.Delivery, by port: inout Port
    ) {
        deliver(fate, on: &delivery, by: &port)
        conclude(fate, on: &delivery, by: &port)
    }

    /// What goes before the message, the message, and what is put in behind it.
    package static func deliver<Port: MessagePort>(
        _ fate: MessageFate, on delivery: inout Port.Delivery, by port: inout Port
    ) {
        if fate.delay > 0 { port.wait(fate.delay, &delivery) }
        for edit in fate.injectedBefore { port.inject(edit, &delivery) }
        if !fate.effectsBefore.isEmpty { port.begin(fate.effectsBefore, .before, &delivery) }
        guard fate.end?.place != .before else { return }
        if let count = fate.truncated, !fate.isDropped {
            port.cut(port.takePayloads(&delivery), after: count, &delivery)
        } else if fate.isLost {
            port.lose(&delivery)
        } else {
            for payload in port.takePayloads(&delivery) { send(payload, fate, on: &delivery, by: &port) }
            port.delivered(&delivery)
        }
        guard !fate.isCutShort else { return }
        for edit in fate.injectedAfter { port.inject(edit, &delivery) }
    }

    private static func send<Port: MessagePort>(
        _ payload: OutboundPayload, _ fate: MessageFate, on delivery: inout Port.Delivery, by port: inout Port
    ) {
        if let reorder = fate.reorder {
            port.park(payload, reorder, &delivery)
        } else {
            port.send(payload, isCopy: false, &delivery)
        }
        for _ in 0..<min(fate.copies, mostCopies) { port.send(payload, isCopy: true, &delivery) }
    }

    private static let mostCopies = 1_000

    /// What begins behind the message, and the end.
    package static func conclude<Port: MessagePort>(
        _ fate: MessageFate, on delivery: inout Port.Delivery, by port: inout Port
    ) {
        if !fate.isCutShort {
            if !fate.effectsAfter.isEmpty { port.begin(fate.effectsAfter, .after, &delivery) }
            if fate.pause > 0 { port.wait(fate.pause, &delivery) }
        }
        port.finish(fate.end, after: fate.lingering, &delivery)
    }
}

extension MessageFate {
    /// Whether the connection ends before all of the message was said: nothing has its place behind it.
    fileprivate var isCutShort: Bool { truncated != nil || end?.place == .before }
}

/// What is no answer to a request.
private enum BrokenAnswer {
    /// Its head is not HTTP.
    static let head = Array("HTTQ/1.l 2OO\r\nContent-Length= no\r\n\r\n".utf8)
    /// Its JSON ends in the middle of a word.
    static let body = HTTPAnswer(
        status: 200, headers: [HeaderField("Content-Type", "application/json")],
        body: Array(#"{"connectionId":"wiretape","availableTransports":[{"tran"#.utf8))
}
