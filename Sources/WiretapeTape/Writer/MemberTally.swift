/// What whole members hold: counted when they are taken, so that a tape that ends early is told of as it is.
package struct MemberTally: Hashable, Sendable {
    package var events: UInt64 = 0
    /// Connections that were opened.
    package var opens: UInt64 = 0

    package init(events: UInt64 = 0, opens: UInt64 = 0) {
        self.events = events
        self.opens = opens
    }

    package static func + (a: MemberTally, b: MemberTally) -> MemberTally {
        MemberTally(events: a.events + b.events, opens: a.opens + b.opens)
    }

    package static func - (a: MemberTally, b: MemberTally) -> MemberTally {
        MemberTally(events: a.events - b.events, opens: a.opens - b.opens)
    }
}
