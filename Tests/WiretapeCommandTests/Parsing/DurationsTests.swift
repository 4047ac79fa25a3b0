import Testing
import wiretape

@Suite struct DurationsTests {
    @Test(
        arguments: [
            ("250ms", 250_000_000), ("2s", 2_000_000_000), ("1m", 60_000_000_000), ("1.5s", 1_500_000_000), ("0", 0),
            ("10us", 10_000), ("7ns", 7), ("1h", 3_600_000_000_000), ("0.001ms", 1_000),
        ] as [(String, UInt64)])
    func reads(_ text: String, _ nanoseconds: UInt64) {
        #expect(Durations.nanoseconds(text) == nanoseconds)
    }

    @Test(arguments: [
        "", "5", "s", "-1s", "1 s", "1.s", ".5s", "1.2.3s", "1d", "99999999999999999999s", "18446744073709551615s",
    ])
    func refuses(_ text: String) {
        #expect(Durations.nanoseconds(text) == nil)
    }
}
