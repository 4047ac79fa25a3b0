/// When a client was heard on its connections, as far as a policy about its keepalives wants to know: its longest waits.
/// Times are nanoseconds since the run began.
package struct LifeSigns: Hashable, Sendable {
    /// The longest wait without anything from the client.
    package private(set) var longest: Gap?
    /// The longest wait without anything but keepalives: only in such a one the client owed some.
    package private(set) var quiet: UInt64 = 0
    private var course: Course?

    package struct Gap: Hashable, Sendable {
        /// Whose connection it was.
        package var attempt: Int
        package var from: UInt64
        package var length: UInt64
    }

    /// The connection that is open.
    private struct Course: Hashable, Sendable {
        var attempt: Int
        var heard: UInt64
        var spoke: UInt64
    }

    package init() {}

    /// A connection is ready.
    package mutating func begins(_ attempt: Int, at time: UInt64) {
        ends(at: time)
        course = Course(attempt: attempt, heard: time, spoke: time)
    }

    /// Something came from the client.
    package mutating func heard(isKeepalive: Bool, at time: UInt64) {
        settle(at: time)
        guard let course else { return }
        self.course?.heard = max(course.heard, time)
        if !isKeepalive { self.course?.spoke = max(course.spoke, time) }
    }

    /// Until then the client cannot be heard, or has nothing to answer.
    package mutating func excused(from time: UInt64, until end: UInt64) {
        settle(at: time)
        guard let course else { return }
        self.course?.heard = max(course.heard, end)
        self.course?.spoke = max(course.spoke, end)
    }

    package mutating func ends(at time: UInt64) {
        settle(at: time)
        course = nil
    }

    /// What is known at a moment of the connection that is open, too.
    package func settled(at time: UInt64) -> LifeSigns {
        var copy = self
        copy.settle(at: time)
        return copy
    }

    private mutating func settle(at time: UInt64) {
        guard let course else { return }
        let gap = Gap(attempt: course.attempt, from: course.heard, length: time - min(time, course.heard))
        if gap.length > longest?.length ?? 0 { longest = gap }
        quiet = max(quiet, time - min(time, course.spoke))
    }
}
