package import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeTape

/// Tells what one loop records as the events that a tape would have, while it happens, and hands the records on to the tape if there is
/// one. Belongs to the loop's thread. A message is told when the ``Tap`` hands over what it came with: 10 to 25 ms later.
///
/// Memory: what an assembler keeps of messages that are not whole.
package final class RecordedEvents: TapSink {
    private let next: (any TapSink)?
    private let tell: (TapeEvent) -> Void
    private var assembler: TapeAssembler
    private var packer = MemberPacker()
    private var parser = TapeLineParser()
    private var lines: [UInt8] = []
    /// The batch that was handed on.
    private var seen: [UInt8] = []
    /// Called at the end of each batch.
    package var batchEnded: () -> Void = {}

    /// - Parameters:
    ///   - next: the tape; nil: there is none.
    ///   - origin: the loop's time at the run's start.
    ///   - memory: what messages that are not whole may take.
    package init(
        _ next: (any TapSink)?, origin: WireInstant, memory: Int, _ tell: @escaping (TapeEvent) -> Void
    ) {
        self.next = next
        self.tell = tell
        assembler = TapeAssembler(origin: origin.nanoseconds, memory: memory, redaction: nil)
    }

    package var oldestUnwritten: UInt64 { next?.oldestUnwritten ?? .max }
    package var oldestQueued: UInt64 { next?.oldestQueued ?? .max }
    package var waits: Bool { next?.waits ?? false }

    package func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer {
        guard let next else {
            take(batch, loop: loop)
            batch.removeAll(keepingCapacity: true)
            return .taken(spare: batch)
        }
        // The writer's thread empties and gives back what it is handed: what is read here must not share its memory.
        seen.removeAll(keepingCapacity: true)
        seen.append(contentsOf: copy batch)
        let offer = next.offer(batch, loop: loop, oldest: oldest, isLast: isLast)
        switch offer {
        case .taken: take(seen, loop: loop)
        // What has no room comes again; what is dropped has happened all the same.
        case .full(let back): if back.isEmpty { take(seen, loop: loop) }
        case .failed: break
        }
        return offer
    }

    /// Tells what was kept: nothing is recorded any more.
    package func finish() {
        assembler.finish(into: &packer)
        tellLines()
        batchEnded()
    }

    private func take(_ batch: [UInt8], loop: Int) {
        assembler.consume(batch, loop: loop, into: &packer)
        tellLines()
        batchEnded()
    }

    /// The lines are read as a tape's are: what is told is what stands on one.
    private func tellLines() {
        packer.flush()
        lines.removeAll(keepingCapacity: true)
        while packer.takePlain(into: &lines) {}
        let lines = lines
        var start = 0
        for end in lines.indices where lines[end] == 0x0a {
            if let (event, _) = try? parser.parse(lines.span.extracting(start..<end)) { tell(event) }
            start = end + 1
        }
    }
}
