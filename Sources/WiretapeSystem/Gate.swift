#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// Lifetime: mutex, condition and value are allocated with the object and freed in its `deinit`; only the holder of the
// lock sees the value.

/// A value behind a mutex, with a condition to wait on: a monitor. Every change through ``update(_:)`` wakes all waiters.
///
/// On Linux the thread sanitizer does not see into `Synchronization.Mutex` and reports what it protects; it knows this one.
/// `@unchecked` is not needed: the value sits in memory that only code under the mutex reaches.
@safe package final class Gate<Value: Sendable>: Sendable {
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    package init(_ initial: Value) {
        unsafe value.initialize(to: initial)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            unsafe pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            unsafe pthread_condattr_init(&attributes)
            unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            unsafe pthread_cond_init(condition, &attributes)
            unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// Looks at the value or changes it, without waking anyone. `body` must not call this gate.
    package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value.pointee)
    }

    /// Changes the value and wakes all waiters. `body` must not call this gate.
    @discardableResult package func update<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return try unsafe body(&value.pointee)
    }

    /// Waits until `isReady` holds, then runs `body` under the same lock.
    package func wait<R>(until isReady: (Value) -> Bool, _ body: (inout Value) -> R) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !(unsafe isReady(value.pointee)) { unsafe pthread_cond_wait(condition, mutex) }
        return unsafe body(&value.pointee)
    }

    /// Waits until `isReady` holds or `deadline` (``SystemClock/monotonic``) has passed, then runs `body` under the same
    /// lock either way. The first argument of `body` tells whether it held.
    package func wait<R>(
        until isReady: (Value) -> Bool, deadline: UInt64, _ body: (Bool, inout Value) -> R
    ) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        var holds = unsafe isReady(value.pointee)
        while !holds {
            let now = SystemClock.monotonic
            guard now < deadline else { break }
            waitOnce(now: now, deadline: deadline)
            holds = unsafe isReady(value.pointee)
        }
        return unsafe body(holds, &value.pointee)
    }

    private func waitOnce(now: UInt64, deadline: UInt64) {
        // A year is as good as ever, and safe in every time_t.
        let end = min(deadline, now &+ 31_536_000_000_000_000)
        #if canImport(Darwin)
            var gap = timespec(tv_sec: Int((end - now) / 1_000_000_000), tv_nsec: Int((end - now) % 1_000_000_000))
            unsafe pthread_cond_timedwait_relative_np(condition, mutex, &gap)
        #else
            var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
            unsafe pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }
}
