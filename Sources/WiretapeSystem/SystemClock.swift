#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// Lifetime: the result is a local, lent for the call.

/// The system's clocks.
package enum SystemClock {
    /// Nanoseconds of CLOCK_MONOTONIC: the clock of a libuv loop on Linux, so that both can be compared.
    package static var monotonic: UInt64 {
        #if canImport(Darwin)
            return clock_gettime_nsec_np(CLOCK_UPTIME_RAW)
        #else
            return nanoseconds(CLOCK_MONOTONIC)
        #endif
    }

    /// Nanoseconds since 1970-01-01 00:00 UTC.
    package static var wall: UInt64 { nanoseconds(CLOCK_REALTIME) }

    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec))
    }

    /// RFC 3339 in UTC with microseconds: `2026-11-21T02:47:22.123456Z`.
    package static func rfc3339(_ nanoseconds: UInt64) -> String {
        let seconds = nanoseconds / 1_000_000_000
        let micros = Int(nanoseconds % 1_000_000_000 / 1000)
        let day = CalendarDay(daysSince1970: Int(seconds / 86400))
        let second = Int(seconds % 86400)
        return "\(padded(day.year, 4))-\(padded(day.month, 2))-\(padded(day.day, 2))"
            + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
            + ".\(padded(micros, 6))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
