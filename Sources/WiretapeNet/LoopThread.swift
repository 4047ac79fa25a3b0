internal import CWiretapeUV
package import WiretapeRuntime
internal import WiretapeSystem

// Lifetime: the thread's object outlives its thread, which keeps it; the async handle is closed by the loop that it
// wakes, and its memory is freed with the object, when that loop is gone.

/// A loop on a thread of its own. Sendable: the only ways in are ``post(_:)`` and what is built on it; all shared state is
/// behind the mutex.
@safe package final class LoopThread: Sendable {
    package typealias Job = @Sendable (UVLoop) -> Void

    private enum Life { case new, starting, running, ended }
    private struct State: Sendable {
        var jobs: [Job] = []
        var life = Life.new
        var thread: Thread?
    }
    private let state = Gate(State())
    /// Touched by the loop's thread only, but for `uv_async_send`, which others call under the mutex while the loop runs.
    private nonisolated(unsafe) let wake = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let name: String

    package init(name: String = "loop") { self.name = name }

    deinit { unsafe wake.deallocate() }

    /// Starts the thread and waits until its loop runs. Once.
    package func start() throws(NetError) {
        let ready = Gate<Result<Void, NetError>?>(nil)
        let isFirst = state.withLock { state in
            guard state.life == .new else { return false }
            state.life = .starting
            return true
        }
        guard isFirst else { return }
        let thread: Thread
        do {
            thread = try Thread(name: name) { [self] in main(ready) }
        } catch {
            state.withLock { $0.life = .ended }
            throw NetError("thread", code: -error.code, reason: error.reason)
        }
        state.withLock { $0.thread = thread }
        let result = ready.wait(until: { $0 != nil }) { $0 }
        try (result ?? .success(())).get()
    }

    /// Runs `job` on the loop's thread, in the order of posting. Jobs posted before ``start()`` run first.
    /// - Returns: false when the loop has ended: the job never runs.
    @discardableResult package func post(_ job: @escaping Job) -> Bool {
        state.withLock { state in
            guard state.life != .ended else { return false }
            state.jobs.append(job)
            if state.life == .running { _ = unsafe uv_async_send(wake) }
            return true
        }
    }

    /// Runs `body` on the loop and returns what it returns.
    package func run<T: Sendable>(_ body: @escaping @Sendable (UVLoop) throws -> T) async throws -> T {
        try await handedOver { give in
            let isPosted = post { loop in give(Result { try body(loop) }) }
            if !isPosted { give(.failure(Self.hasEnded)) }
        }
    }

    /// Runs `body` on the loop and waits for what it returns. Not from the loop's own thread.
    package func call<T: Sendable>(_ body: @escaping @Sendable (UVLoop) throws -> T) throws -> T {
        let answer = Gate<Result<T, any Error>?>(nil)
        let isPosted = post { loop in
            let result = Result { try body(loop) }
            answer.update { $0 = result }
        }
        guard isPosted else { throw Self.hasEnded }
        return try answer.wait(until: { $0 != nil }) { $0 ?? .failure(Self.hasEnded) }.get()
    }

    /// Ends the loop, closes all that is open and joins the thread. Not from the loop's own thread. Again: does nothing.
    package func stop() {
        post { $0.stop() }
        let thread = state.withLock { state in
            let thread = state.thread
            state.thread = nil
            return thread
        }
        thread?.join()
    }

    private static var hasEnded: NetError { NetError("loop", code: 0, reason: "the loop has ended") }

    private func main(_ ready: Gate<Result<Void, NetError>?>) {
        let loop: UVLoop
        do throws(NetError) {
            loop = try UVLoop()
            let rc = unsafe uv_async_init(loop.raw, wake, didWake)
            guard rc == 0 else {
                loop.shutdown()
                throw NetError("event loop", status: rc)
            }
        } catch {
            state.withLock { $0.life = .ended }
            ready.update { $0 = .failure(error) }
            return
        }
        unsafe wake.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        ready.update { $0 = .success(()) }
        drain(loop, .running)
        loop.run()
        drain(loop, .ended)
        unsafe uv_close(UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self), nil)
        loop.shutdown()
    }

    /// Runs the jobs posted so far, outside the mutex.
    private func drain(_ loop: UVLoop, _ life: Life) {
        let jobs = state.withLock { state in
            state.life = life
            let jobs = state.jobs
            state.jobs = []
            return jobs
        }
        for job in jobs { job(loop) }
    }

    fileprivate func wakened(_ loop: UVLoop) { drain(loop, .running) }
}

/// Waits for the one result that another thread gives.
///
/// It passes through a gate, and the continuation only says that it is there: on Linux the thread sanitizer does not see
/// what a continuation carries that is resumed before its task has begun to wait.
/// - Parameter begin: is given `give`, which has to be called once, from whichever thread.
package func handedOver<T: Sendable>(
    _ begin: (_ give: @escaping @Sendable (Result<T, any Error>) -> Void) -> Void
) async throws -> T {
    let answer = Gate<Result<T, any Error>?>(nil)
    await withCheckedContinuation { continuation in
        begin { result in
            answer.withLock { $0 = result }
            continuation.resume()
        }
    }
    guard let result = answer.withLock({ $0 }) else { preconditionFailure("resumed without a result") }
    return try result.get()
}

private func didWake(_ handle: UnsafeMutablePointer<uv_async_t>?) {
    let loop = unsafe Unmanaged<UVLoop>.fromOpaque(handle!.pointee.loop.pointee.data).takeUnretainedValue()
    unsafe Unmanaged<LoopThread>.fromOpaque(handle!.pointee.data).takeUnretainedValue().wakened(loop)
}
