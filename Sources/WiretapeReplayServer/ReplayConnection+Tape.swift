internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeWire

/// What rules did on a connection and the actual tape has not told yet: which event it was done to is known when that is
/// told.
struct FaultAccounts {
    /// The end that is on its way, or the answer that is given instead of the right one.
    var end: FaultNote?
    /// What is done to the next answer.
    var answers: [FaultNote] = []
    /// The number of the last event of the connection.
    var last: UInt64?
}

/// The actual tape.
extension ReplayConnection {
    func note(_ kind: @autoclosure () -> TapeEvent.Kind) {
        guard server.observe != nil else { return }
        let kind = kind()
        accounts.last = server.note(id, kind)
        switch kind {
        case .response(_, _, _, let isInterim, _, _):
            if isInterim { return }
            let notes = accounts.answers
            accounts.answers = []
            for one in notes { tell(one, done: accounts.last) }
            tellEnd()
        case .close(.toClient, _, _), .end(_, .toClient, _), .gone: tellEnd()
        case .open, .request, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .fault, .mark, .take, .gap,
            .missing, .stop, .unknown:
            break
        }
    }

    /// The transport ended: by a rule, or by whoever was first.
    func noteGone(_ how: TapeEvent.How, _ why: String?) {
        if let end = accounts.end, ends.first != .client {
            note(.gone(by: .proxy, how: how, why: FaultNote.account + end.rule))
        } else {
            note(.gone(by: ends.first ?? .client, how: how, why: why))
        }
    }

    /// What a rule did.
    func account(for fault: FaultNote) {
        guard server.observe != nil else { return }
        switch fault.about {
        case .none: tell(fault, done: nil)
        case .said: tell(fault, done: accounts.last)
        case .answer: accounts.answers.append(fault)
        case .end: accounts.end = fault
        }
    }

    private func tellEnd() {
        guard let end = accounts.end else { return }
        accounts.end = nil
        tell(end, done: accounts.last)
    }

    private func tell(_ fault: FaultNote, done reference: UInt64?) {
        server.note(
            id,
            .fault(
                rule: fault.rule, action: fault.action, reference: reference, delivered: nil, line: fault.line))
    }

    func noteAnswer(_ answer: HTTPAnswer, isStream: Bool = false) {
        let head = ResponseHead(
            status: answer.status, reason: answer.reason.isEmpty ? statusText(answer.status) : answer.reason,
            headers: answer.headers)
        note(
            .response(
                x: exchange, head, isStream ? .streamed : answer.body.isEmpty ? .none : .whole(answer.body),
                interim: false, coding: nil, proxy: accounts.end != nil))
        if isStream, !answer.body.isEmpty { note(.chunk(x: exchange, .toClient, answer.body)) }
    }

    /// An answer that is not the tape's.
    func noteOwnAnswer(_ status: Int) {
        note(
            .response(
                x: exchange, ResponseHead(status: status, reason: statusText(status)), .none, interim: false,
                coding: nil, proxy: true))
    }

    func hear(_ event: ServerEvent) {
        switch event {
        case .request(let head, let body, _):
            asked = (head, body)
            exchange += 1
            note(.request(x: exchange, head, body.isEmpty ? .none : .whole(body)))
        case .refused(let head, let answer):
            if let head {
                exchange += 1
                note(.request(x: exchange, head, .none))
            }
            noteAnswer(answer)
        case .message(let opcode, let payload, let deflated):
            note(.message(.toServer, opcode, payload, deflated: deflated, fragments: []))
        case .ping(let payload): note(.ping(.toServer, payload))
        case .pong(let payload): note(.pong(.toServer, payload))
        case .ended(.closeFrame(let code, let reason)):
            note(.close(.toServer, code: code, reason: code == nil ? nil : reason))
            // A rule may leave it without an answer.
            setEnd()
        case .ended, .finish: break
        }
    }
}
