import Testing
internal import WiretapeCommandLine
import WiretapeCommands

/// Every option of every command with numbers at their limits: it is read, or refused with a sentence.
@Suite struct OptionNumbersTests {
    private static let numbers = [
        "0", "1", "-1", "1.5", "2147483648", "4294967296", "9007199254740993", "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "1e308", "1e999", "nan", "inf", "-inf", "0x10", "999999999999",
        String(repeating: "9", count: 400),
    ]
    /// What a number may stand in.
    private static let forms = [
        "N", "Nh", "Nns", "N%", "NKiB", "NMiB", ":N", "127.0.0.1:N", "http://127.0.0.1:N", "N/N", "N..N", "lose:N",
        "idle:N",
        "idle:Nh", "message=NMiB", "silence=Nh", "exponential(Nh, factor=N, cap=Nh, jitter=N%)", "rate(max=N/Ns)",
        "delay(Nh..Nh) on message[N]", "throttle(NMB/s) on accept", "drop p=N max=N", "delays(Nh, early=Nh, late=Nh)",
    ]

    @Test(arguments: Commands.specs.map(\.name)) func everyOptionReadsThem(_ name: String) throws {
        let spec = try #require(Commands.specs.first { $0.name == name })
        for option in spec.options where option.valueName != nil && option.missing == nil {
            for form in Self.forms {
                for number in Self.numbers {
                    let value = form.replacing("N", with: number)
                    do {
                        let words = spec.positionals.map { _ in "x.tape" } + ["--\(option.name)=\(value)"]
                        guard case .arguments(let parsed) = try ArgumentParser.parse(words, as: spec) else { continue }
                        _ = [parsed.count(option.name), parsed.duration(option.name)]
                    } catch {
                        #expect(!error.message.isEmpty)
                    }
                }
            }
        }
    }
}
