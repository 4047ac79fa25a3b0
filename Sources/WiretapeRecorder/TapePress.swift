internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeTape

/// The path from batches to members, without a thread and without a clock: the writer's thread drives it, and so may a
/// test or a simulation.
package struct TapePress<Consumer: RecordConsumer>: ~Copyable {
    private var consumer: Consumer
    private var packer = MemberPacker()
    private var compressor = MemberCompressor()
    private var policy = LevelPolicy()
    private let isCompressed: Bool
    private var takenBytes: UInt64 = 0
    private let relief: MemberRelief?

    /// - Parameters:
    ///   - isCompressed: gzip members, else plain lines.
    ///   - relief: gets members, before those of ``take(now:fill:clock:into:)``, when a batch gives more than can be kept.
    package init(
        _ consumer: consuming Consumer, isCompressed: Bool, relief: ((Span<UInt8>, MemberTally) -> Void)? = nil
    ) {
        self.consumer = consumer
        self.isCompressed = isCompressed
        self.relief = relief.map { MemberRelief(isCompressed: isCompressed, write: $0) }
        packer.relief = self.relief
    }

    /// Bytes of lines that became members so far.
    package var lineBytes: UInt64 { takenBytes + (relief?.lineBytes ?? 0) }
    /// Bytes that the relief was given.
    package var relievedBytes: UInt64 { relief?.fileBytes ?? 0 }

    /// The beginning of a tape: its header's line, as a member of its own when compressed. With it the file is a tape
    /// from its first moment.
    /// - Parameter line: the line as it is, in place of one that is made of `header`.
    package static func header(_ header: TapeHeader, line: [UInt8]? = nil, isCompressed: Bool) -> [UInt8] {
        var packer = MemberPacker()
        var compressor = MemberCompressor()
        var out: [UInt8] = []
        if let line { packer.appendLine(line.span, event: nil) } else { packer.appendHeader(header) }
        packer.flush()
        _ =
            isCompressed
            ? packer.takeMember(&compressor, level: LevelPolicy.best, into: &out) : packer.takePlain(into: &out)
        return out
    }

    package var events: UInt64 { packer.events }
    /// What the members hold that were taken, those of the relief among them.
    package var taken: MemberTally { packer.taken }
    /// The lowest level that overload forced.
    package var forcedLevel: Int? { policy.forced }
    /// Monotonic time of the oldest record whose line was not taken; nil when all were.
    package var oldest: UInt64? { packer.oldest }
    /// When the gathered lines have waited long enough; nil when there are none.
    package var dueAt: UInt64? { packer.dueAt }

    /// - Parameter oldest: monotonic time of the batch's first record.
    package mutating func consume(_ batch: [UInt8], loop: Int, oldest: UInt64) {
        packer.stamp = oldest
        consumer.consume(batch, loop: loop, into: &packer)
    }

    /// Takes an event that no records stand for.
    package mutating func append(_ event: TapeEvent, _ redaction: TapeRedaction?) {
        packer.redaction = redaction
        packer.append(event)
    }

    /// Takes a line of another tape as it is. `event`: what it says; nil for a comment.
    package mutating func append(line: Span<UInt8>, _ event: TapeEvent?) { packer.appendLine(line, event: event) }

    /// Everything is due, and nothing says that the recording has ended.
    package mutating func flush() { packer.flush() }

    /// Batches of a loop were dropped.
    package mutating func lose(events: UInt64, loop: Int, at stamp: UInt64) {
        packer.stamp = stamp
        consumer.lost(loop: loop, into: &packer)
        packer.append(TapeEvent(time: packer.lastTime, connection: 0, .gap(lost: events)))
    }

    /// The recording ends: everything is due. ``take(now:fill:clock:into:)`` follows until it returns false.
    package mutating func finish() {
        consumer.finish(into: &packer)
        packer.stop(level: policy.forced)
    }

    /// Appends the next member that is due to `out`. False when none is.
    /// - Parameters:
    ///   - fill: of the queue before the press, 0 to 1.
    ///   - clock: monotonic nanoseconds, to measure what compressing takes.
    package mutating func take(now: UInt64, fill: Double, clock: () -> UInt64, into out: inout [UInt8]) -> Bool {
        if packer.nextSize == 0 {
            guard packer.isDue(at: now) else { return false }
            packer.flush()
        }
        let bytes = packer.nextSize
        takenBytes += UInt64(bytes)
        guard isCompressed else { return packer.takePlain(into: &out) }
        let level = policy.level(bytes: bytes, fill: fill, now: now)
        let before = out.count
        let start = clock()
        let taken = packer.takeMember(&compressor, level: level, into: &out)
        let end = clock()
        policy.made(
            level: level, bytes: bytes, compressed: out.count - before, nanoseconds: end > start ? end - start : 0)
        return taken
    }
}
