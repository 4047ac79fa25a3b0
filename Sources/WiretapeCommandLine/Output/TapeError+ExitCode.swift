internal import WiretapeTape

extension TapeError {
    /// 4 for what is wrong with the file's content, 1 for what the system refuses.
    package var exitCode: Int32 {
        switch kind {
        case .empty, .notATape, .newerVersion, .damaged, .badLine, .tooLarge: ExitCode.badFile.code
        case .unreadable, .exists, .inUse, .unwritable, .noSpace: ExitCode.failure.code
        }
    }
}
