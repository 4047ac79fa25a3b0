internal import WiretapeSystem

/// Where a recording is written, and where it stands when it has ended.
package struct RecordingPlace {
    /// What is told of a recording that has ended.
    package enum Outcome: Hashable, Sendable {
        /// It stands where it was wanted.
        case kept
        /// It is gone, and what stood in its place before still does.
        case dropped
    }

    /// The tape that people named.
    package let name: String
    /// The file that is written while clients are served.
    package let path: String

    /// A recording that is written where people want it.
    package init(_ name: String) {
        self.name = name
        path = name
    }

    /// A recording that takes the place of `name` when it has ended well: what is there stays until then. The file beside it
    /// is of one recorder at a time, by the tape's lock.
    package init(besides name: String) {
        self.name = name
        let slash = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
        path = name[..<slash] + ".recording." + name[slash...]
    }

    package var isBeside: Bool { path != name }

    /// - Parameters:
    ///   - hasAnswers: whether there is something on the tape that could be played.
    ///   - isWell: whether the run ended with 0.
    package func settle(hasAnswers: Bool, isWell: Bool) throws -> Outcome {
        guard isBeside else { return .kept }
        let files = SystemFiles()
        // A recording of a run that failed is better than none, and no better than one that there is.
        guard hasAnswers, isWell || !files.exists(name) else {
            try files.remove(path)
            return .dropped
        }
        let place = files.resolved(name)
        try files.move(path, to: place)
        try files.syncFolder(of: place)
        return .kept
    }
}
