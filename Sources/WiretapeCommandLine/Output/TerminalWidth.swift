internal import WiretapeSystem

/// How wide texts for people are.
package enum TerminalWidth {
    /// Columns of standard output between 60 and 100; 80 when that is no terminal.
    package static var current: Int { min(100, max(60, Console.output.columns ?? 80)) }
}
