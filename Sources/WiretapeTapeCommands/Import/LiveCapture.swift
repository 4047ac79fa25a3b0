internal import WiretapeBytes
internal import WiretapeCapture
package import WiretapeCommandLine
internal import WiretapeProtocol
internal import WiretapeRecorder
package import WiretapeSystem
package import WiretapeTape

/// A live capture on a thread of its own: packets in, a tape and a list of sessions out.
package final class LiveCapture: Sendable {
    private struct State {
        var isStopping = false
        var outcome: Result<LiveOutcome, any Error>?
    }

    private let state = Gate(State())
    private let thread = Gate<Thread?>(nil)

    package init(
        _ packets: PacketCapture, _ arguments: ParsedArguments, _ redaction: RedactionChoice, _ target: TapeFile,
        _ log: Log
    ) throws {
        let checked = KeyLog()
        let keys = try arguments.all("keylog").map { try ImportRun.read(keys: $0, into: checked, log) }
        let started = try Thread(name: "capture") { [state] in
            let outcome = Result {
                let secrets = KeyLog()
                for text in keys { secrets.add(text.span) }
                var list = LiveSessions(log, memory: arguments.memory / 8)
                var drops = DropWatch(log)
                let run = ImportRun(arguments, redaction, secrets, log)
                return try run.follow(packets, to: target) { records, origin in
                    list.take(records, origin: origin)
                    drops.look(packets.counters)
                } stops: {
                    state.withLock { $0.isStopping }
                }
            }
            state.update { $0.outcome = outcome }
        }
        thread.withLock { $0 = started }
    }

    /// Nil while it goes on.
    package var outcome: Result<LiveOutcome, any Error>? { state.withLock { $0.outcome } }

    package func stop() { state.update { $0.isStopping = true } }

    /// Waits for the end of the thread.
    package func wait() -> Result<LiveOutcome, any Error> {
        stop()
        thread.withLock { $0 }?.join()
        return outcome ?? .failure(Failure("the capture ended without a word"))
    }
}

/// A line for every session, when it begins.
private struct LiveSessions {
    private let log: Log
    private let memory: Int
    private var recorded: RecordedEvents?
    private let seen = Seen()

    /// What the events come to; they are told from within a call.
    private final class Seen {
        var inspector = Inspector()
        var rows: [InspectRow] = []
        var sessions = 0
        var froms: [UInt32: String] = [:]
        var number: UInt64 = 0
    }

    init(_ log: Log, memory: Int) {
        self.log = log
        self.memory = memory
    }

    mutating func take(_ records: [UInt8], origin: UInt64) {
        guard log.level == .info else { return }
        if recorded == nil {
            let (seen, log) = (seen, log)
            recorded = RecordedEvents(nil, origin: WireInstant(nanoseconds: origin), memory: memory) { event in
                LiveSessions.tell(event, seen, log)
            }
        }
        _ = recorded?.offer(records, loop: 0, oldest: 0)
    }

    private static func tell(_ event: TapeEvent, _ seen: Seen, _ log: Log) {
        seen.number += 1
        if case .open(let open) = event.kind { seen.froms[event.connection] = open.from }
        seen.rows.removeAll(keepingCapacity: true)
        seen.inspector.read(event, number: seen.number, into: &seen.rows)
        for row in seen.rows {
            guard let message = row.message, message.session > seen.sessions else { continue }
            seen.sessions = message.session
            let from = seen.froms[event.connection].map { " of \($0)" } ?? ""
            log.info("session \(message.session)\(from), connection \(event.connection): \(row.text)")
        }
        if case .gone = event.kind { seen.froms[event.connection] = nil }
    }
}

/// Tells when the kernel had no room for packets.
private struct DropWatch {
    private let log: Log
    private var told: UInt64 = 0

    init(_ log: Log) { self.log = log }

    mutating func look(_ counters: PacketCapture.Counters) {
        let dropped = counters.dropped + counters.droppedByInterface
        guard dropped > told else { return }
        told = dropped
        log.warning(
            "\(ImportWords.count(dropped, "packet")) dropped so far: a larger --buffer or a narrower --filter helps")
    }
}
