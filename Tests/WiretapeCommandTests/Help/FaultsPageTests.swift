import Testing
internal import WiretapeCommandLine
import WiretapeCommands
import WiretapeFaults

/// `wiretape help faults` and the man page's sections that no command declares.
@Suite(.waitsForPrograms) struct FaultsPageTests {
    @Test func everyWordOfRulesIsThere() throws {
        let run = try Binary.run("help", "faults")
        #expect(run.code == 0 && run.err == "")
        let lines = run.out.split(separator: "\n", omittingEmptySubsequences: false)
        for word in Faults.all.map(\.word) + FaultPoint.allCases.map(\.rawValue) + Condition.keys {
            #expect(lines.contains { $0.hasPrefix("  \(word) ") || $0 == "  \(word)" }, "\(word)")
        }
    }

    @Test func everyExampleCanBeLoaded() throws {
        for entry in FaultsPage.sections.flatMap(\.entries) {
            guard let example = entry.example else {
                #expect(entry.term == "tls")
                continue
            }
            _ = try FaultRule(parsing: example, from: RuleSource(file: "help"))
        }
    }

    @Test(arguments: [60, 80, 100]) func noLineIsWiderThanTheTerminal(_ width: Int) {
        for line in FaultsPage.text(width: width).split(separator: "\n") { #expect(line.count <= width, "\(line)") }
    }

    @Test func theManPageHasItsSections() throws {
        let page = ManPage.text(Commands.specs, version: "1")
        let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SH ") }.map { $0.dropFirst(4) }
        #expect(
            sections == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "FAULTS", "EXIT STATUS", "ENVIRONMENT", "FILES",
            ])
        let status = try #require(page.firstRange(of: ".SH EXIT STATUS"))
        for code in Set(Commands.specs.flatMap(\.exitCodes).map(\.code)) where code != 128 {
            #expect(page[status.upperBound...].contains("\n.B \(code)\n"), "\(code)")
        }
        for (name, meaning) in Surroundings.variables + Surroundings.files {
            #expect(!name.isEmpty && meaning.hasSuffix("."), "\(name)")
        }
    }
}
