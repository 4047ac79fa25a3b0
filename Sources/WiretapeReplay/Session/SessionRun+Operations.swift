internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

extension SessionRun {
    /// The client has left its operation before the end. Where the recorded one did so, too, that was its cancel.
    func cancelOperation(at now: WireInstant) {
        guard recorded.isOperation else { return }
        let cancel = script.steps.indices.first { i in
            script.steps[i].role == .cancel && (cursor.state[i] == .waiting || cursor.state[i] == .deferred)
        }
        if let cancel {
            cursor.settle(cancel, at: now, &tally)
            cursor.giveUp { _ in true }
        } else if link?.underWay.steps.isEmpty == true, cursor.isSaid {
            // Only the end of the body was still to come, and clients do not wait for that.
            let script = script
            cursor.giveUp { script.steps[$0].role == nil }
        }
    }

    /// Whether the client has ended the event stream that it reserved. Its operations end with the stream.
    var hasEndedOperations: Bool {
        guard recorded.codec.type.reservesStreams,
            let attempt = attempts.last(where: { $0.outcome == .connected }), attempt.steps.last?.transport == .sse
        else { return false }
        return attempt.ended?.by == .client
    }

    /// Whether the answer was open when the connection was lost by a rule or the network. A client that ends its request has
    /// no further use for the answer.
    var lostItsAnswer: Bool {
        guard let end = attempts.last?.ended else { return false }
        return end.by.isRule || end.by == .client && end.how == .reset
    }

    /// Another client has taken the chain that this request opens.
    func giveAway(_ request: Int) {
        let group = script.steps[request].group
        let script = script
        cursor.giveUp { script.steps[$0].group == group }
    }

    /// The client says that it has the message of that id: what follows it is due, and nothing before it, whatever was sent.
    /// An id that the tape does not have changes nothing.
    /// - Parameter requestFollows: whether the client's own request follows. If not, the client asks for the rest of the stream only.
    func goOn(behind id: String, requestFollows: Bool, at now: WireInstant) {
        guard let last = script.step(ofID: id, recorded) else { return }
        cursor.goOn(behind: last, requestFollows: requestFollows, at: now)
        if !requestFollows { resumesStream() }
    }
}
