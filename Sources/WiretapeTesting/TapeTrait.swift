public import Testing

/// Gives each test a ``ReplayServer`` of its own, ``ReplayServer/current``, for as long as it runs. On a suite: each test of it.
///
/// A test under it fails at its end when its client did not do what is on the tape, when a rule never fired, when a policy is not met,
/// and when nobody came. A run that records the tape ends with a warning.
public struct TapeTrait: TestTrait, SuiteTrait, TestScoping {
    let tape: String
    let upstream: TapeUpstream?
    let options: Options
    let filePath: String

    /// Suites in suites have it, too.
    public var isRecursive: Bool { true }

    /// One server for each case of a test, none for a suite itself.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> TapeTrait? { testCase == nil ? nil : self }

    /// Plays the tape around one case of a test.
    @concurrent public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let server = try await ReplayServer.start(
            tape: tape, upstream: upstream, options: options, filePath: filePath, sink: .swiftTesting)
        do {
            try await ReplayServer.$current.withValue(server) { try await function() }
        } catch {
            await server.conclude(at: nil)
            // What a recording cannot do is no failure of the test that makes it.
            if server.isRecording, error is TapeFailure { return }
            throw error
        }
        await server.conclude(at: nil)
    }
}

extension Trait where Self == TapeTrait {
    /// Plays a tape to the client of each test.
    /// - Parameters:
    ///   - tape: a path, looked for as ``ReplayServer/start(tape:upstream:options:filePath:)`` does.
    ///   - upstream: the server that is recorded when the variable `WIRETAPE_RECORD_MODE` is `once` and there is no tape, or `all`.
    ///   - faults: rules that break things, behind those of `options`.
    ///   - expect: what clients are held to at the end, behind that of `options`.
    ///   - speed: how fast recorded gaps pass; nil: as `options` have it.
    ///   - timeScale: how many times faster than real time the clock of the client runs; nil: as `options` have it.
    ///   - options: how the tape is played.
    ///   - filePath: the file that the tape is found from.
    public static func tape(
        _ tape: String, upstream: TapeUpstream? = nil, faults: [Fault] = [], expect: [Policy] = [],
        speed: Options.Speed? = nil,
        timeScale: Double? = nil, options: Options = .init(), filePath: String = #filePath
    ) -> TapeTrait {
        var options = options
        options.faults += faults
        options.expect += expect
        if let speed { options.speed = speed }
        if let timeScale { options.timeScale = timeScale }
        return TapeTrait(tape: tape, upstream: upstream, options: options, filePath: filePath)
    }
}
