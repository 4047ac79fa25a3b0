internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeProxy
internal import WiretapeReplay
internal import WiretapeReplayServer
internal import WiretapeReport
internal import WiretapeWire

extension ReplayServer {
    /// Waits until every session that a client began is played to its end, all that the tape has for it is said, and nobody has said
    /// anything more for 250 ms of the client's time; on a clock that is moved by hand, for 50 ms of real time.
    /// What the server said last may still be on its way to the client: a test that looks at that waits for it as well.
    /// - Parameter time: real time.
    /// - Throws: ``TapeFailure`` when a client diverges from the tape, or when the time is over: with what is still awaited.
    ///   `CancellationError` when the test is cancelled.
    ///
    /// A recording is finished when nothing has passed for a second.
    public func finished(within time: Duration = .seconds(30)) async throws {
        if let recording { return try await quiet(recording, within: time) }
        let isPatient = options.onDivergence != .fail
        try? ask { $0.awaitEnd() }
        try await wait(within: time) { hosted -> Result<Void, TapeFailure>? in
            if !isPatient, let first = hosted.divergences.first {
                return .failure(TapeFailure(String(first.prefix { $0 != "\n" })))
            }
            return hosted.isFinished() ? .success(()) : nil
        } late: { hosted in
            TapeFailure(
                "the tape is not played to its end after \(time.asText)\n\n" + hosted.server.masked(hosted.soFar().text)
            )
        }
    }

    private func quiet(_ recording: TapeInTheMaking, within time: Duration) async throws {
        let end = ContinuousClock.now + time
        var (last, since) = (0, ContinuousClock.now)
        while last == 0 || ContinuousClock.now - since < .seconds(1) {
            guard ContinuousClock.now < end else {
                throw TapeFailure(
                    "\(last == 0 ? "nothing came" : "it is not quiet") within \(time.asText) of recording")
            }
            try await Task.sleep(for: .milliseconds(50))
            if recording.progress != last { (last, since) = (recording.progress, ContinuousClock.now) }
        }
    }

    /// The next message of that name: the first that passed since the server was started and that no earlier call with the same
    /// direction and name has given.
    /// - Parameters:
    ///   - name: a label, a type or a channel: `Send`, `Invocation`.
    ///   - time: how long to wait for it, in real time.
    /// - Throws: ``TapeFailure`` when none comes in that time: with what came instead.
    public func next(
        _ direction: ReceivedMessage.Direction, _ name: String, within time: Duration = .seconds(10)
    ) async throws -> ReceivedMessage {
        if isRecording { throw Self.records }
        let side = direction.wire
        return try await wait(within: time) { hosted in
            hosted.next(side, name).map(Result.success)
        } late: { hosted in
            let names = hosted.seen.filter { $0.message.direction == side }.map { $0.message.label ?? $0.message.type }
            let came = names.isEmpty ? "nothing came" : "what came: " + names.suffix(8).joined(separator: ", ")
            return TapeFailure("no '\(name)' within \(time.asText); \(came)")
        }
    }

    /// What clients have said so far, in the order in which it came, keepalives left aside.
    /// - Parameter type: only messages of this type or label: `Invocation`, `Send`; nil: all.
    public func received(type: String? = nil) -> [ReceivedMessage] {
        messages(.toServer) { type == nil || $0.isCalled(type ?? "") }
    }

    /// What the server has said so far, in the order in which it left, keepalives left aside.
    /// - Parameter type: only messages of this type or label; nil: all.
    public func sent(type: String? = nil) -> [ReceivedMessage] {
        messages(.toClient) { type == nil || $0.isCalled(type ?? "") }
    }

    private func messages(
        _ direction: Direction, _ isWanted: @escaping @Sendable (Message) -> Bool
    ) -> [ReceivedMessage] {
        let found = try? ask { hosted in
            hosted.seen.filter {
                $0.message.direction == direction && $0.message.role != .keepalive && isWanted($0.message)
            }.map(hosted.message)
        }
        return found ?? []
    }

    static let records = TapeFailure("the messages of a run that records are on its tape only: run again to play it")

    // MARK: Rules

    /// Other rules from now on, all at once. Their counters begin at 0; what the rules before them have begun goes on to its end. At
    /// the end of the test only the rules that are there then have to have fired.
    /// - Throws: ``TapeFailure`` when one of them is no rule, or cannot fire on this tape; the rules stay as they were.
    public func replaceFaults(_ faults: [Fault]) async throws {
        if isRecording { return }
        let plan = try Fault.plan(faults, isSecure: url.hasPrefix("https:"))
        let hopeless = plan.hopeless(in: tape.sessions, tapeName: tape.name, options: options).filter { !$0.optional }
        guard hopeless.isEmpty else { throw TapeFailure(hopeless.map(\.text).joined(separator: "\n")) }
        try ask { hosted in
            _ = hosted.server.consult { engine, now, _ in engine.replaceFaults(plan, at: now) }
        }
    }

    // MARK: Steps

    /// Under ``Options/Speed/step``: lets so many more messages of the server leave, each as soon as the client messages that it
    /// waits for are there.
    /// - Parameters:
    ///   - count: 0 or more; adds to what was allowed before and is not used up.
    ///   - time: how long a client may take to come.
    /// - Throws: ``TapeFailure`` when none has come by then.
    public func advance(by count: Int, within time: Duration = .seconds(10)) async throws {
        try await someoneIsThere(within: time)
        try ask { $0.server.step(max(0, count)) }
    }

    /// Under ``Options/Speed/step``: lets messages of the server leave up to the first that is meant, and that one.
    /// - Parameters:
    ///   - selector: as rules have it: `ReceiveMessage`, `StreamItem[/item/id=7]`.
    ///   - time: how long a client may take to come.
    /// - Throws: ``TapeFailure`` when it is no selector, or when no client has come by then.
    public func advance(until selector: String, within time: Duration = .seconds(10)) async throws {
        let meant: Selector
        do {
            meant = try Selector(parsing: selector, from: RuleSource(file: "--until"))
        } catch {
            throw TapeFailure("\(error), in \"\(selector)\"")
        }
        try await someoneIsThere(within: time)
        try ask { hosted in
            _ = hosted.server.consult { engine, now, out in engine.step(until: meant, at: now, into: &out) }
        }
    }

    /// Steps are for sessions that clients have begun.
    private func someoneIsThere(within time: Duration) async throws {
        if isRecording { throw Self.records }
        try await wait(within: time) { hosted -> Result<Void, TapeFailure>? in
            hosted.soFar().sessions.isEmpty ? nil : .success(())
        } late: { _ in
            TapeFailure("nobody to advance: no client has begun a session within \(time.asText)")
        }
    }
}
