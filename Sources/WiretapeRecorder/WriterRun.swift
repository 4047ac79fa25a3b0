internal import WiretapeSystem
internal import WiretapeTape

/// The writer's thread: takes what is queued, lets the press make members of it and hands them to the sink.
struct WriterRun<Consumer: RecordConsumer>: ~Copyable {
    private let shared: WriterShared
    private var press: TapePress<Consumer>
    private var member: [UInt8] = []
    private var fileBytes: UInt64

    /// - Parameter fileBytes: of the header, which is written.
    init(_ shared: WriterShared, _ consumer: consuming Consumer, fileBytes: UInt64) {
        self.shared = shared
        self.fileBytes = fileBytes
        press = TapePress(consumer, isCompressed: shared.options.isCompressed) { shared.write($0, $1) }
    }

    consuming func run() {
        while true {
            let (item, isFinishing) = shared.gate.wait(
                until: { !$0.isEmpty || $0.isFinishing }, deadline: press.dueAt ?? .max
            ) { _, queue in (queue.takeNext(), queue.isFinishing) }
            guard let item else {
                if isFinishing { break }
                writeDue(fill: 0)
                tellOldest()
                continue
            }
            take(item)
        }
        finish()
    }

    private var fill: Double {
        Double(shared.gate.withLock { $0.bytes }) / Double(max(1, shared.options.bound))
    }

    private mutating func take(_ item: consuming WriterQueue.Item) {
        switch consume item {
        case .batch(var batch, let loop, let oldest):
            if shared.gate.withLock({ $0.failure }) != nil {
                shared.gate.update { $0.discarded += Consumer.countEvents(in: batch) }
            } else {
                press.consume(batch, loop: loop, oldest: oldest)
                writeDue(fill: fill)
            }
            shared.gate.update { $0.done(&batch) }
            tellOldest()
        case .gap(let events, let loop):
            press.lose(events: events, loop: loop, at: shared.clock())
        }
    }

    private mutating func writeDue(fill: Double) {
        var before = press.taken
        while press.take(now: shared.clock(), fill: fill, clock: shared.clock, into: &member) {
            writeMember(press.taken - before)
            before = press.taken
        }
    }

    private mutating func writeMember(_ tally: MemberTally) {
        defer { member.removeAll(keepingCapacity: member.capacity < 4 << 20) }
        let bytes = member
        if shared.write(bytes.span, tally) { fileBytes += UInt64(bytes.count) }
    }

    private func tellOldest() {
        let packed = press.oldest ?? .max
        shared.gate.withLock { queue in
            if queue.failure == nil {
                shared.ages.are(queued: queue.oldest, packed: packed)
            } else {
                shared.ages.are(queued: .max, packed: .max)
            }
        }
    }

    private consuming func finish() {
        for loss in shared.gate.withLock({ $0.takeLosses() }) {
            press.lose(events: loss.events, loop: loss.loop, at: shared.clock())
        }
        press.finish()
        writeDue(fill: 0)
        shared.sync()
        // Without the stop.
        let made = press.events - 1
        let totals = TapeTotals(
            lineBytes: press.lineBytes, fileBytes: fileBytes + press.relievedBytes, level: press.forcedLevel)
        shared.gate.update { queue in
            queue.totals = totals
            let events = min(queue.written.events, made)
            queue.totals?.events = events
            queue.totals?.connections = queue.written.opens
            queue.totals?.lost = queue.lost
            // What was on its way to the file when that failed is lost with the rest.
            queue.totals?.discarded = queue.discarded + (made - events)
            queue.totals?.failure = queue.failure
        }
        shared.ages.are(queued: .max, packed: .max)
    }
}
