package import WiretapeTape

/// Turns what the loops recorded into lines. It runs where the writer runs: on its thread, or inline in the simulation.
package protocol RecordConsumer: SendableMetatype {
    /// Takes a batch of records of one loop, in the order of time, and appends their events to `packer`. Records whose
    /// message is not whole yet are kept.
    mutating func consume(_ batch: [UInt8], loop: Int, into packer: inout MemberPacker)
    /// Batches of that loop were dropped (`--on-overload drop`) between the last one and the next: what was kept of
    /// their streams cannot be completed. The writer has written the `gap`.
    mutating func lost(loop: Int, into packer: inout MemberPacker)
    /// The recording ends: appends what was kept (`part` events of messages that never ended).
    mutating func finish(into packer: inout MemberPacker)
    /// About how many events a batch would have become. Called on a loop's thread for a batch that is dropped.
    static func countEvents(in batch: [UInt8]) -> UInt64
}
