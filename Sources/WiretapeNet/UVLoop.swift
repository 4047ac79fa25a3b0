internal import CWiretapeUV
package import WiretapeBytes
package import WiretapeRuntime

// Lifetime: the loop's memory and its read buffer are freed in `deinit`, when `uv_loop_close` says that no handle is
// left; else they are leaked on purpose. Handles find the loop through a pointer that does not retain it: whoever runs
// it keeps it.

/// The ``Loop`` on libuv. Belongs to the thread that runs it: not Sendable, no lock. Other threads reach it through
/// ``LoopThread``.
///
/// ``shutdown()`` must be called before the last reference goes; ``LoopThread`` does that.
@safe package final class UVLoop: Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    /// Lent to every read of this loop: bytes are used up before a read callback returns.
    let readBuffer: UnsafeMutableBufferPointer<CChar>
    package var readLimit = Int.max
    private(set) var isShutDown = false
    private var openHandles = 0
    /// `getaddrinfo` calls under way on libuv's threads.
    var openLookups = 0

    private var deadlines = DeadlineHeap()
    private var armings: UInt64 = 0
    private var openTimers = 0
    private var alarm: LoopAlarm?
    /// When the alarm rings; `.max` while it is not set.
    private var alarmAt = UInt64.max

    /// Streams that hear nothing of an RST: see `UVLoop+Watch.swift`.
    var watched: [UVStream] = []
    var watchTimer: UVTimer?
    /// What lives as long as the loop and is found by jobs that are posted to it.
    package var residents: [AnyObject] = []
    /// How many descriptors this process may have open. Tests say less.
    package var descriptorLimit: () -> Int = { ProcessSetup.descriptorLimit }
    /// Listeners that hold a connection back: see `UVListener+Descriptors.swift`.
    var withholding: [UVListener] = []
    var withholdTimer: UVTimer?

    /// - Parameter readBuffer: the most bytes that one read takes.
    /// - Throws: when the system has no descriptors left.
    package init(readBuffer size: Int = 65536) throws(NetError) {
        let raw = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let rc = unsafe uv_loop_init(raw)
        guard rc == 0 else {
            unsafe raw.deallocate()
            throw NetError("event loop", status: rc)
        }
        unsafe self.raw = unsafe raw
        unsafe readBuffer = .allocate(capacity: max(1, size))
        unsafe raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        alarm = LoopAlarm(self)
        guard let alarm, LoopPrepare(self) != nil else {
            shutdown()
            throw NetError("event loop", status: UV_EMFILE.rawValue)
        }
        unsafe uv_unref(alarm.raw)
    }

    deinit {
        // EBUSY: something is still open, a lookup most likely. Better a leak than a crash.
        if unsafe uv_loop_close(raw) == 0 {
            unsafe raw.deallocate()
            unsafe readBuffer.deallocate()
        }
    }

    package var now: WireInstant { WireInstant(nanoseconds: uv_hrtime()) }

    /// Runs until ``stop()``, or until nothing is open that could call back: streams, listeners, timers, lookups.
    package func run() {
        guard !isShutDown else { return }
        _ = unsafe uv_run(raw, UV_RUN_DEFAULT)
    }

    /// Makes ``run()`` return after the callbacks of this round.
    package func stop() { unsafe uv_stop(raw) }

    /// Closes everything that is open and tells the owners of streams (`ended(.aborted)`). Timers never fire again, lookups
    /// are not answered. The loop cannot be used afterwards: streams made later end at once.
    package func shutdown() {
        guard !isShutDown else { return }
        isShutDown = true
        deadlines.removeAll()
        watchTimer = nil
        withholdTimer = nil
        withholding = []
        while openHandles > 0 {
            // Owners may open new streams while they are told.
            unsafe uv_walk(
                raw,
                { handle, _ in
                    guard unsafe uv_is_closing(handle) == 0 else { return }
                    unsafe Handle.owner(handle!.pointee.data, as: Handle.self).close()
                }, nil)
            _ = unsafe uv_run(raw, UV_RUN_NOWAIT)
        }
        alarm = nil
        watched = []
        residents = []
    }

    func handleOpened() { openHandles += 1 }
    func handleClosed() { openHandles -= 1 }

    // MARK: Timers

    package func timer(_ fire: @escaping () -> Void) -> any LoopTimer {
        UVTimer(self, holdsLoop: true, fire)
    }

    func timerOpened() {
        openTimers += 1
        if openTimers == 1, let alarm { unsafe uv_ref(alarm.raw) }
    }

    func timerClosed() {
        openTimers -= 1
        if openTimers == 0, let alarm { unsafe uv_unref(alarm.raw) }
    }

    func arm(_ timer: UVTimer, at instant: UInt64) {
        guard !isShutDown else { return }
        deadlines.remove(timer)
        armings += 1
        deadlines.insert(timer, at: instant, order: armings)
    }

    func disarm(_ timer: UVTimer) { deadlines.remove(timer) }

    /// Before the loop waits. An alarm that rings too early costs less than to move it each time.
    func setAlarm() {
        guard let first = deadlines.first, first < alarmAt else { return }
        alarmAt = first
        alarm?.set(first)
    }

    /// The alarm rang. What the closures arm is for the next round, even when it is due.
    func fireTimers() {
        alarmAt = .max
        let now = uv_hrtime()
        let end = armings + 1
        while let timer = deadlines.popDue(at: now, armedBefore: end) { timer.fireNow() }
    }
}
