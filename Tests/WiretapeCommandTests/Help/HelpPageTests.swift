import Testing
internal import WiretapeCommandLine
import WiretapeCommands

@Suite struct HelpPageTests {
    @Test func aPageReadsLikeThis() {
        let page = HelpPage.text(ArgumentParserTests.spec, width: 72)
        #expect(
            page == """
                Usage: wiretape play FILE [OPTIONS] [-- COMMAND…]

                Plays.

                Arguments:
                  FILE                    The tape.
                  -- COMMAND…             Run with it.

                Options:
                  -o, --output FILE       Where to.
                      --listen URL…       Where. (default: 127.0.0.1:0)
                      --grace D           How long. (default: 500ms)
                      --threads N         Loops. (default: 1)
                      --match HOW         How. One of: relaxed, strict, off.
                      --json              Machine lines.

                Help:
                  -h, --help              Show this text.

                Exit codes:
                  0      All went well.
                  64     The command line or a fault plan is wrong.

                """)
    }

    @Test func longTermsStandAlone() {
        let text = TextWrap.entry("--a-rather-long-option NAME", "What it does.", column: 16, width: 60)
        #expect(text == "  --a-rather-long-option NAME\n                What it does.\n")
    }

    @Test(arguments: [60, 72, 80, 100])
    func noLineIsWiderThanTheTerminal(_ width: Int) {
        for spec in Commands.specs {
            for line in HelpPage.text(spec, width: width).split(separator: "\n") where !line.contains("wiretape ") {
                #expect(line.count <= width, "\(spec.name): \(line)")
            }
        }
    }
}
