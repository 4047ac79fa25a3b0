internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeIntercept
internal import WiretapeProtocol
package import WiretapeRecorder
package import WiretapeRuntime

/// The TLS handshakes of a relay's clients on one loop: asks the rules of the run, and tells the tape of those that fail, each
/// as a connection on which nothing was said.
package final class RelayHandshakes: HandshakeWatch {
    private let loop: any Loop
    private let tap: Tap?
    private let numbers: ConnectionNumbers
    private let faults: FaultControl?
    private var isClosed = false

    package init(_ loop: any Loop, tap: Tap?, numbers: ConnectionNumbers, faults: FaultControl?) {
        self.loop = loop
        self.tap = tap
        self.numbers = numbers
        self.faults = faults
    }

    /// The tape ends: what becomes of handshakes that are still under way is told nobody.
    package func close() { isClosed = true }

    /// Clients are served so.
    package func serves(_ door: TLSDoor?) { faults?.serves(door) }

    package var judges: Bool { faults?.faults.reach.hasTLS ?? false }

    package func judge(_ handshake: Handshake, _ then: @escaping (HandshakeFate?) -> Void) {
        then(faults.flatMap { HandshakeFate($0.faults.shakesHands(at: handshake.place.listener, now: loop.now)) })
    }

    package func opened(_ fate: HandshakeFate, _ accept: () -> any StreamHandler) -> any StreamHandler {
        faults?.within(fate.hits, accept) ?? accept()
    }

    package func left(_ handshake: Handshake, _ fate: HandshakeFate, why: String) {
        guard !isClosed else { return }
        faults?.faults.failedHandshake(from: handshake.peer, by: fate.rule, why: why, at: loop.now)
    }

    package func failed(_ handshake: Handshake, _ fate: HandshakeFate?, why: String) {
        guard !isClosed else { return }
        let now = loop.now
        if let fate { left(handshake, fate, why: why) }
        guard let tap else { return }
        let id = numbers.next()
        let open = TapeEvent.Open(
            from: handshake.peer?.description, to: handshake.place.to, upstream: handshake.place.upstream)
        tap.record(.open, id, at: now, OpenRecord.encode(open).span)
        for hit in fate?.hits ?? [] {
            tap.record(.fault, id, at: now, FaultRecord.encode(hit.name, hit.text, delivered: nil).span)
        }
        tap.record(.gone, id, flags: GoneFlags.encode(.proxy, .error), at: now, Array(why.utf8).span)
    }
}
