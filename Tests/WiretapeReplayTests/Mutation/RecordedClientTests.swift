import Testing
import WiretapeAttempts
import WiretapeProtocol
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// Recorded sessions, replayed to a client that says what was recorded in its own way: its ids, its order, its transport.
@Suite struct RecordedClientTests {
    static let tapes = [
        "chat", "chat-sse", "chat-lp", "everything", "everything-sse", "everything-lp", "reconnect", "skip-negotiation",
        "pysignalr", "signalrcore", "messagepack", "messagepack-lp",
    ]
    static let styles: [ClientHabits.IDStyle] = [
        .counter(0), .counter(1), .counter(4_711), .restarting(0), .restarting(17), .opaque,
    ]

    private func run(_ tape: String, _ change: (inout ClientHabits) -> Void) throws -> MutationRun {
        let sessions = try Recordings.sessions(tape)
        var habits = ClientHabits()
        habits.transport = sessions[0].transport
        if sessions[0].negotiate == nil { habits.negotiateVersion = nil }
        change(&habits)
        let run = MutationRun(tape, sessions, habits)
        #expect(run.problems() == [])
        #expect(run.unheard == [])
        #expect(run.report.verdict == .pass, "\(run.report.reasons)")
        #expect(run.report.unclaimed == [] && run.report.sessions.allSatisfy { $0.finished && $0.reordered == 0 })
        return run
    }

    /// Ids that start at "0", at "1", anywhere, that are UUIDs, that go on or start again after a reconnect.
    @Test(arguments: tapes, styles) func whateverTheIDs(_ tape: String, _ style: ClientHabits.IDStyle) throws {
        _ = try run(tape) { $0.ids = style }
    }

    /// Calls that were made at a time, in other orders: each gets its own result.
    @Test(arguments: tapes, [ClientHabits.Order.swapped, .eager, .pipelined])
    func whateverTheOrder(_ tape: String, _ order: ClientHabits.Order) throws {
        _ = try run(tape) {
            $0.order = order
            $0.ids = .counter(1)
        }
    }

    /// A tape that holds its own reconnect plays it back whole, whatever carries it.
    @Test(arguments: [Transport.ws, .sse, .lp]) func aRecordedReconnect(_ transport: Transport) throws {
        let run = try run("reconnect") {
            $0.transport = transport
            $0.delays = [0, 2_000_000_000]
        }
        #expect(run.report.sessions.map(\.session) == [1, 2])
        #expect(run.report.sessions.map { $0.attempts.count } == [1, 1])
        #expect(run.report.sessions[0].attempts.first?.ended?.by == .server)
        #expect(run.report.sessions[1].attempts.first?.ended?.by == .client)
        #expect(run.client.plays.allSatisfy { $0.isOver })
    }
}
