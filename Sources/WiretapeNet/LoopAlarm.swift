internal import CWiretapeUV

// Lifetime: the handles live as every `Handle` does: retained until their close callback. The loop closes them before
// itself.

#if os(Linux)
    /// The one clock handle of a loop: a timerfd, since `uv_timer` counts whole milliseconds (here the error is p50 0.06 ms,
    /// p99 0.24 ms). Calls ``UVLoop/fireTimers()``.
    final class LoopAlarm: Handle {
        private let clock: Int32

        init?(_ loop: UVLoop) {
            clock = wiretape_timer_descriptor()
            super.init(UV_POLL)
            guard clock >= 0 else { return nil }
            let poll = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_poll_t.self)
            guard unsafe uv_poll_init(loop.raw, poll, clock) == 0 else {
                _ = wiretape_close(clock)
                return nil
            }
            adopt()
            _ = unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { poll, _, _ in
                let me = unsafe Handle.owner(poll!.pointee.data, as: LoopAlarm.self)
                wiretape_clear_timer(me.clock)
                me.loop.fireTimers()
            }
        }

        /// Rings at `instant`, at once when that has passed. A later call moves it.
        func set(_ instant: UInt64) { wiretape_set_timer(clock, max(1, instant)) }

        override func didClose() { _ = wiretape_close(clock) }
    }
#else
    /// The one clock handle of a loop. Calls ``UVLoop/fireTimers()``.
    final class LoopAlarm: Handle {
        init?(_ loop: UVLoop) {
            super.init(UV_TIMER)
            let timer = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_timer_t.self)
            guard unsafe uv_timer_init(loop.raw, timer) == 0 else { return nil }
            adopt()
        }

        /// Rings at `instant` rounded up to the millisecond, at once when that has passed. A later call moves it.
        func set(_ instant: UInt64) {
            let now = uv_hrtime()
            let wait = instant <= now ? 0 : (instant - now) / 1_000_000 + 1
            let timer = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_timer_t.self)
            unsafe uv_update_time(raw.pointee.loop)
            _ = unsafe uv_timer_start(
                timer,
                { timer in unsafe Handle.owner(timer!.pointee.data, as: LoopAlarm.self).loop.fireTimers() }, wait, 0)
        }
    }
#endif

/// Runs before the loop waits: many armings of one wake-up set the alarm once.
final class LoopPrepare: Handle {
    init?(_ loop: UVLoop) {
        super.init(UV_PREPARE)
        let prepare = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_prepare_t.self)
        guard unsafe uv_prepare_init(loop.raw, prepare) == 0 else { return nil }
        adopt()
        _ = unsafe uv_prepare_start(prepare) { prepare in
            unsafe Handle.owner(prepare!.pointee.data, as: LoopPrepare.self).loop.setAlarm()
        }
        unsafe uv_unref(raw)
    }
}
