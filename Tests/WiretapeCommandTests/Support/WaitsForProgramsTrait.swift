import Foundation
import Testing

/// Gives the tests of a suite, which start programs and wait for them, threads of their own. The runner has a thread for each core:
/// who waits on one of those keeps it from a test that would compute.
struct WaitsForProgramsTrait: TestTrait, SuiteTrait, TestScoping {
    /// Once around the whole suite: its tests inherit the threads, and need not queue behind all tests that compute to get at them.
    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { test.isSuite ? self : nil }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

extension Trait where Self == WaitsForProgramsTrait {
    static var waitsForPrograms: Self { Self() }
}

/// A few threads for whatever blocks. Lifetime: as long as the process.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()
    private let queue = OperationQueue()

    init() {
        // Each test has one program at work, seldom two.
        queue.maxConcurrentOperationCount = 4
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
