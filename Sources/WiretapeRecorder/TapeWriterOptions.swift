/// How a writer treats a queue that is full and a file that cannot be written.
package struct TapeWriterOptions: Sendable {
    package enum Overload: String, Sendable, CaseIterable {
        /// The traffic waits: nothing is lost.
        case wait
        /// Batches are dropped and counted; the tape gets a `gap`.
        case drop
    }

    package enum DiskFull: String, Sendable, CaseIterable {
        /// Offers fail, the traffic ends.
        case stop
        /// The traffic goes on unrecorded.
        case `continue`
    }

    /// When what was written is handed to the device, so that it outlives a loss of power (`fsync`).
    package enum Sync: String, Sendable, CaseIterable {
        /// After every member: at least four times a second while something comes.
        case everyMember = "every-member"
        /// Once, when the recording ends.
        case stop
        case off
    }

    package var overload: Overload
    package var diskFull: DiskFull
    /// Gzip members, else plain lines.
    package var isCompressed: Bool
    /// Bytes of batches that may wait, those in hand included.
    package var bound: Int
    package var sync: Sync

    package init(
        overload: Overload = .wait, diskFull: DiskFull = .stop, isCompressed: Bool = true, bound: Int = 16 << 20,
        sync: Sync = .stop
    ) {
        self.overload = overload
        self.diskFull = diskFull
        self.isCompressed = isCompressed
        self.bound = bound
        self.sync = sync
    }
}
