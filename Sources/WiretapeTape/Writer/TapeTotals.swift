/// What a recording came to.
package struct TapeTotals: Hashable, Sendable {
    /// Events on the tape, without the `stop`.
    package var events: UInt64 = 0
    package var connections: UInt64 = 0
    /// Events lost to `--on-overload drop`; the tape has a `gap` for them.
    package var lost: UInt64 = 0
    /// Events discarded after the tape could not be written any more.
    package var discarded: UInt64 = 0
    /// Bytes of lines, and of the file.
    package var lineBytes: UInt64 = 0
    package var fileBytes: UInt64 = 0
    /// The lowest compression level that overload forced; nil when none did.
    package var level: Int?
    /// Why the tape ends early.
    package var failure: TapeError?

    package init(
        events: UInt64 = 0, connections: UInt64 = 0, lost: UInt64 = 0, discarded: UInt64 = 0, lineBytes: UInt64 = 0,
        fileBytes: UInt64 = 0, level: Int? = nil, failure: TapeError? = nil
    ) {
        self.events = events
        self.connections = connections
        self.lost = lost
        self.discarded = discarded
        self.lineBytes = lineBytes
        self.fileBytes = fileBytes
        self.level = level
        self.failure = failure
    }
}
