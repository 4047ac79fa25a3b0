public import XCTest

extension XCTestCase {
    /// Plays a tape to the client of this test, until the test is torn down. What speaks against a pass is a failure of the test
    /// at the line of this call.
    /// - Parameters:
    ///   - tape: a path, looked for as ``ReplayServer/start(tape:upstream:options:filePath:)`` does.
    ///   - upstream: the server that is recorded when `WIRETAPE_RECORD_MODE` wants it.
    ///   - options: how it is played.
    /// - Throws: ``TapeFailure`` when the tape cannot be played.
    public func wiretape(
        _ tape: String, upstream: TapeUpstream? = nil, options: Options = .init(), filePath: StaticString = #filePath,
        line: UInt = #line
    ) async throws -> ReplayServer {
        let server = try await ReplayServer.start(
            tape: tape, upstream: upstream, options: options, filePath: "\(filePath)", sink: .xctest)
        let place = CallPlace("", filePath, line, 1)
        addTeardownBlock { await server.conclude(at: place) }
        return server
    }
}
