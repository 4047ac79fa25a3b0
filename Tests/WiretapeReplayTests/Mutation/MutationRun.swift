import WiretapeAttempts
import WiretapeBytes
import WiretapeFaults
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeReplay
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// A model client that plays the client's part of a recorded tape against the replay engine, in virtual time.
struct MutationRun {
    let stage: EngineStage
    let client: ModelClient
    let report: ReplayReport
    /// Whether it came to its end by itself.
    let isEnded: Bool
    /// Nanoseconds until the last connection or attempt had ended.
    let elapsed: UInt64

    /// - Parameters:
    ///   - played: what the server plays, when that is not what the client knows of them.
    ///   - forgiven: the lines of a session without which the server may go on.
    init(
        _ name: String, _ sessions: [RecordedSession], _ habits: ClientHabits, played: [RecordedSession]? = nil,
        forgiven: [Int: Set<Int>] = [:], seed: UInt64 = 1, _ change: (inout ReplayOptions) -> Void = { _ in }
    ) {
        var options = ReplayOptions()
        change(&options)
        let engine = ReplayEngine(
            sessions: played ?? sessions, tapeName: "\(name).tape.gz", options: options, faults: FaultPlan(), seed: seed
        )
        let start = WireInstant(nanoseconds: 1_000_000_000)
        client = ModelClient("model", sessions, habits, seed: seed, start: start)
        stage = EngineStage(engine, [client], weather: .init(), timing: nil, seed: seed)
        if habits.mischief != nil {
            for s in sessions.indices { stage.expectWrong(ofClient: 0, session: s, forgiven: forgiven[s] ?? []) }
        }
        isEnded = stage.run(until: start.advanced(by: 3_600_000_000_000))
        report = stage.finish()
        elapsed = report.sessions.flatMap(\.attempts).map { $0.ended?.time ?? .max }.max() ?? .max
    }

    /// What no server does, or what the rules of release forbid.
    func problems(takenAway: [Int: Set<Int>] = [:]) -> [String] {
        var problems = stage.problems + client.violations
        if !isEnded { problems.append("not over: the client is \(client.phase), \(client.wants)") }
        for (s, play) in client.plays.enumerated() {
            var referee = stage.referees[0][s]
            referee.finish(takenAway: takenAway[s] ?? [])
            problems += referee.problems + play.strange.map { "session \(s) got \($0)" }
        }
        return problems
    }

    /// Lines of the server that the client should have had and had not, or had more than once.
    var unheard: [String] {
        client.plays.enumerated().flatMap { s, play in
            play.talk.lines.indices.filter {
                let line = play.talk.lines[$0]
                guard line.direction == .toClient, !line.isOptional, line.ending == nil else { return false }
                return play.counts[$0] != 1
            }.map { "session \(s) line \($0) came \(play.counts[$0]) times" }
        }
    }

    /// Calls that the client made and that were never answered, although the tape has an answer.
    var unanswered: [String] {
        client.plays.enumerated().flatMap { s, play in
            play.talk.lines.indices.filter {
                let line = play.talk.lines[$0]
                guard line.direction == .toServer, line.role == .request, play.said[$0] else { return false }
                let answers = play.talk.chain(of: $0, .toClient).filter { play.talk.lines[$0].role == .reply }
                return !answers.isEmpty && !answers.contains { play.counts[$0] > 0 }
            }.map { "session \(s) line \($0)" }
        }
    }

    /// Nanoseconds that the tape took.
    static func length(_ sessions: [RecordedSession]) -> UInt64 {
        guard let first = sessions.compactMap(\.opened).min() else { return 0 }
        return (sessions.flatMap(\.entries).map(\.time).max() ?? first) - first
    }
}
