import Testing
import WiretapeSystem

struct ClockTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_999_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400_000_001_000, "2000-02-29T00:00:00.000001Z"),
            (951_868_800_000_000_000, "2000-03-01T00:00:00.000000Z"),
            (1_709_164_800_123_456_789, "2024-02-29T00:00:00.123456Z"),
            (1_735_689_599_000_000_000, "2024-12-31T23:59:59.000000Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000Z"),
            (UInt64.max, "2554-07-21T23:34:33.709551Z"),
        ] as [(UInt64, String)]) func rfc3339(nanoseconds: UInt64, text: String)
    {
        #expect(SystemClock.rfc3339(nanoseconds) == text)
    }

    @Test func clocksGoOn() {
        let before = SystemClock.monotonic
        #expect(SystemClock.monotonic >= before)
        // After 2025, before 2200.
        #expect((1_735_689_600_000_000_000...7_258_118_400_000_000_000).contains(SystemClock.wall))
    }
}
