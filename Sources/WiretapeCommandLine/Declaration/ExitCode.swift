internal import WiretapeTape

/// How a run ends, for scripts. The list is part of the interface.
package struct ExitCode: Hashable, Sendable {
    package var code: Int32
    package var meaning: String

    package init(_ code: Int32, _ meaning: String) {
        self.code = code
        self.meaning = meaning
    }

    package static let success = ExitCode(0, "All went well.")
    package static let failure = ExitCode(
        1,
        "It failed while running: a file that cannot be opened, a port in use, a full disk, a recording without an answer; "
            + "in 'sweep' a client that does not pass without a fault.")
    package static let diverged = ExitCode(
        2,
        "The client did not do what is on the tape, or no client came; in 'diff' the tapes differ; in 'canon --check' the tape "
            + "is not in canonical form.")
    package static let secretFound = ExitCode(3, "A secret was found on a tape.")
    package static let badFile = ExitCode(4, "A file is not a tape, is damaged, or is of a newer version.")
    package static let expectation = ExitCode(
        5, "An expectation failed, or a fault rule never fired or cannot; in 'sweep' a fault broke the client.")
    package static let missing = ExitCode(
        6, "A recording is missing or has nothing to play; in 'ca' there is no authority.")
    package static let usage = ExitCode(64, "The command line or a fault plan is wrong.")
    package static let timeout = ExitCode(124, "The time given with --timeout was over.")
    package static let commandUnusable = ExitCode(126, "The command behind -- is no program, or may not be started.")
    package static let commandMissing = ExitCode(127, "The command behind -- is not there.")
    package static let signal = ExitCode(
        128, "It was ended by signal n (0 after a graceful SIGINT with a passing verdict).")
}

extension TapeError {
    /// 4 for what is wrong with the file's content, 1 for what the system refuses.
    package var exitCode: Int32 {
        switch kind {
        case .empty, .notATape, .newerVersion, .damaged, .badLine, .tooLarge: ExitCode.badFile.code
        case .unreadable, .exists, .inUse, .unwritable, .noSpace: ExitCode.failure.code
        }
    }
}
