internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeRuntime

/// The TLS handshakes of a replay's clients: asks the rules of the run, and tells the tape of the run of those that fail, each
/// as a connection on which nothing was said.
final class ReplayHandshakes: HandshakeWatch {
    // A handshake may outlive the run on a loop that others use, too.
    private weak var server: ReplayService?
    /// Hellos that wait for the rules of a tape that is still being read.
    private var waiting: [(Handshake, (HandshakeFate?) -> Void)] = []

    init(_ server: ReplayService) { self.server = server }

    var judges: Bool { server?.mayJudgeHandshakes ?? false }

    func judge(_ handshake: Handshake, _ then: @escaping (HandshakeFate?) -> Void) {
        guard let server else { return then(nil) }
        guard !server.isReading else { return waiting.append((handshake, then)) }
        then(HandshakeFate(server.judgeHandshake(at: handshake.place.listener), duration: server.clock.loopDuration))
    }

    /// The tape was read.
    func goOn() {
        let all = waiting
        waiting = []
        for (handshake, then) in all { judge(handshake, then) }
    }

    func close() {
        server = nil
        goOn()
    }

    func opened(_ fate: HandshakeFate, _ accept: () -> any StreamHandler) -> any StreamHandler {
        server?.within(fate.hits, accept) ?? accept()
    }

    func left(_ handshake: Handshake, _ fate: HandshakeFate, why: String) {
        server?.clientLeft(handshake, fate, why: why)
    }

    func failed(_ handshake: Handshake, _ fate: HandshakeFate?, why: String) {
        server?.handshakeFailed(handshake, fate, why: why)
    }
}

extension ReplayService {
    /// What the rules say to a handshake that begins.
    func judgeHandshake(at listener: String) -> [FaultHit] {
        consult { engine, now, _ in engine.shakesHands(at: listener, now: now) } ?? []
    }

    func clientLeft(_ handshake: Handshake, _ fate: HandshakeFate, why: String) {
        _ = consult { engine, now, _ in
            engine.failedHandshake(from: handshake.peer, by: fate.rule, why: why, at: now)
        }
    }

    func handshakeFailed(_ handshake: Handshake, _ fate: HandshakeFate?, why: String) {
        if let fate { clientLeft(handshake, fate, why: why) }
        guard observe != nil else { return }
        let id = clients.takeNumber()
        note(
            id,
            .open(
                .init(
                    from: handshake.peer?.description, to: handshake.place.to, upstream: handshake.place.upstream)))
        noteHandshake(fate?.hits ?? [], on: id)
        note(id, .gone(by: .proxy, how: .error, why: why))
    }

    /// What rules did to the handshake of a connection.
    func noteHandshake(_ hits: [FaultHit], on c: ConnectionID) {
        for hit in hits {
            note(c, .fault(rule: hit.name, action: hit.text, reference: nil, delivered: nil, line: nil))
        }
    }
}
