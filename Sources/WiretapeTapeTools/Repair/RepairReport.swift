/// What a repair saved and what it could not.
package struct RepairReport: Hashable, Sendable {
    /// Events of the repaired tape, without the `gap` lines that the repair added.
    package var events: UInt64 = 0
    /// Events that are missing, as far as the headers of members tell. The tape has a `gap` for them.
    package var lost: UInt64 = 0
    /// Whether more is missing than `lost` counts.
    package var isMoreLost = false
    /// File offsets of members with damaged data or a wrong checksum: nothing of them was kept.
    package var damagedMembers: [UInt64] = []
    /// Whole lines that are no events.
    package var badLines = 0
    /// The file ended within a member or line; its whole lines were kept.
    package var isTruncated = false
    /// The header's line could not be read: the repaired tape has one without `started`.
    package var isHeaderLost = false
    /// The recording ended properly.
    package var isStopped = false

    /// Whether there was anything to repair.
    package var isIntact: Bool {
        damagedMembers.isEmpty && badLines == 0 && !isTruncated && !isHeaderLost
    }

    /// One line for people: `1,234 events kept …`.
    package var text: String {
        if isIntact { return "nothing to repair: \(events) events" }
        var parts = ["\(events) events kept"]
        if lost > 0 { parts.append("\(lost) lost") }
        if isMoreLost {
            parts.append(lost > 0 ? "more lost, how many is not known" : "some lost, how many is not known")
        }
        if !damagedMembers.isEmpty {
            let places = damagedMembers.prefix(5).map { String($0) }.joined(separator: ", ")
            parts.append(
                "damaged data at byte \(places)\(damagedMembers.count > 5 ? " and \(damagedMembers.count - 5) more places" : "")"
            )
        }
        if badLines > 0 { parts.append("\(badLines) lines were no events") }
        if isTruncated { parts.append("the end was cut off") }
        if isHeaderLost { parts.append("the header was lost") }
        return parts.joined(separator: "; ")
    }
}
