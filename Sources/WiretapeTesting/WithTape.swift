/// Plays a tape to what `body` does with the server, and stops it behind that. What speaks against a pass (a divergence, a rule that
/// never fired, a policy that is not met, nobody came) is an issue of the test.
///
/// ```swift
/// try await withTape("recordings/chat.tape", options: Options(faults: ["reset after ReceiveMessage[3]"])) { server in
///     let client = ChatClient(url: server.endpoint)
///     try await client.start()
///     try await server.finished()
/// }
/// ```
/// - Parameters:
///   - tape: a path, looked for as ``ReplayServer/start(tape:upstream:options:filePath:)`` does.
///   - upstream: the server that is recorded when `WIRETAPE_RECORD_MODE` wants it.
///   - options: how it is played.
///   - isolation: `body` runs where the caller does.
///   - filePath: the calling file.
///   - body: gets the server; what it returns is returned.
/// - Throws: what `body` throws, and ``TapeFailure`` when the tape cannot be played.
public func withTape<R>(
    _ tape: String, upstream: TapeUpstream? = nil, options: Options = .init(),
    isolation: isolated (any Actor)? = #isolation,
    filePath: StaticString = #filePath, fileID: String = #fileID, line: UInt = #line,
    _ body: (ReplayServer) async throws -> R
) async throws -> R {
    let server = try await ReplayServer.start(
        tape: tape, upstream: upstream, options: options, filePath: "\(filePath)")
    let place = CallPlace(fileID, filePath, line, 1)
    do {
        let result = try await body(server)
        await server.conclude(at: place)
        return result
    } catch {
        await server.conclude(at: place)
        throw error
    }
}
