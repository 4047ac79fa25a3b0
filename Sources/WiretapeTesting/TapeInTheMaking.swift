internal import Synchronization
internal import WiretapeCodecs
internal import WiretapeNet
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeRecorder
internal import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeTLS
internal import WiretapeTape
internal import WiretapeWire

/// The tape that a test makes, and the thread that writes it.
final class TapeInTheMaking: TapSink, Sendable {
    let path: String
    let ledger = UpstreamLedger()
    /// For an upstream with TLS, and for servers that it leads to. Nil: there is none, and they are not reached.
    let secure: TLSContext?
    private let writer: TapeWriter
    private let batches = Atomic(0)

    /// - Parameter force: whether a tape that is there is written over.
    init(path: String, of upstream: Upstream, force: Bool) throws {
        self.path = path
        secure = upstream.isTLS ? try TLSContext(client: .system) : try? TLSContext(client: .system)
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try File.makeFolder(String(path[..<slash])) }
        let header = TapeHeader(
            started: SystemClock.rfc3339(SystemClock.wall), tool: "WiretapeTesting", mode: "reverse",
            upstreams: [(upstream.name, upstream.url)], redaction: "default")
        let origin = SystemClock.monotonic
        writer = try TapeWriter(
            header: header, to: try TapeFile(path: path, force: force),
            options: TapeWriterOptions(isCompressed: TapeFile.isCompressed(path)), clock: { SystemClock.monotonic },
            consumer: { TapeAssembler(origin: origin, redaction: TapeRedaction()) }, onFailure: { _ in })
    }

    /// Grows with what passes.
    var progress: Int { batches.load(ordering: .relaxed) }

    var oldestUnwritten: UInt64 { writer.oldestUnwritten }
    var oldestQueued: UInt64 { writer.oldestQueued }
    var waits: Bool { writer.waits }

    func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer {
        batches.add(1, ordering: .relaxed)
        return writer.offer(batch, loop: loop, oldest: oldest, isLast: isLast)
    }

    /// Writes all, when nothing is recorded any more.
    /// - Returns: what speaks against the recording; nil: nothing does.
    func finish() -> String? {
        let totals = writer.finish()
        if let failure = totals.failure { return "\(failure)" }
        guard ledger.hasAnswered else {
            writer.discard()
            return
                "no request was answered by an upstream: \(ledger.summary ?? "no client came"); nothing was recorded on \(path)"
        }
        return nil
    }

    /// The relay between the client of a test and the real server, which records on this tape. Belongs to the loop's thread.
    func relays(to upstream: Upstream, on loop: UVLoop) -> LoopRelays {
        let shared = LoopRelays.Shared(
            loop: loop, tap: Tap(loop, index: 0, sink: self), numbers: ConnectionNumbers(), options: RelayOptions(),
            admission: Admission(loop), pressure: RelayPressure(loop), ledger: ledger,
            leadBack: (.standard, LeadBackBook(), Codecs.all)
        ) { [weak loop, secure] upstream, address, handler in
            // The loop outlives all that is on it.
            guard let loop else { preconditionFailure("the loop has ended") }
            guard upstream.isTLS else { return loop.connect(to: address, handler) }
            return TLSStream.connect(loop, to: address, serverName: upstream.host, secure, handler)
        }
        return LoopRelays(shared, [upstream], forward: nil) {}
    }
}
