import Synchronization
import Testing
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeSystem
import WiretapeTape

private func writer(
    _ sink: TestSink, _ options: TapeWriterOptions = .init(),
    onFailure: @escaping @Sendable (TapeError) -> Void = { _ in }
) throws -> TapeWriter {
    try TapeWriter(
        header: Tapes.header, to: sink, options: options, clock: { SystemClock.monotonic },
        consumer: { TestConsumer() },
        onFailure: onFailure)
}

/// Texts of the messages on a tape, by connection.
private func texts(_ reading: Tapes.Reading) -> [UInt32: [String]] {
    var texts: [UInt32: [String]] = [:]
    for event in reading.events {
        if case .message(_, _, let bytes, _, _) = event.event.kind {
            texts[event.event.connection, default: []].append(String(decoding: bytes, as: UTF8.self))
        }
    }
    return texts
}

struct TapeWriterTests {
    @Test(arguments: [true, false]) func aRecordingIsWrittenAndEnds(isCompressed: Bool) throws {
        let sink = TestSink()
        let writer = try writer(sink, .init(isCompressed: isCompressed))
        #expect(Tapes.read(sink.written).error == nil, "a tape from its first moment")
        for n in 0..<1000 {
            let batch = TestConsumer.record(UInt64(n), "message \(n)")
            guard case .taken = writer.offer(batch, loop: 0, oldest: SystemClock.monotonic) else {
                Issue.record("not taken")
                return
            }
        }
        let totals = writer.finish()
        #expect(totals.events == 1001 && totals.failure == nil && totals.lost == 0)
        #expect(totals.fileBytes == UInt64(sink.written.count))
        #expect(writer.finish() == totals)
        #expect(writer.oldestUnwritten == .max && writer.queued == 0)
        let reading = Tapes.read(sink.written)
        #expect(reading.error == nil && reading.isStopped && !reading.isTruncated)
        #expect(texts(reading) == [1: (0..<1000).map { "message \($0)" }])
    }

    /// A full queue takes what is offered last: it was relayed, and nobody offers it again.
    @Test(arguments: TapeWriterOptions.Overload.allCases) func whatIsOfferedLastHasRoom(
        _ overload: TapeWriterOptions.Overload
    ) throws {
        let sink = TestSink(isOpen: false)
        let writer = try writer(sink, .init(overload: overload, bound: 4096))
        let text = String(repeating: "m", count: 3000)
        while case .taken = writer.offer(TestConsumer.record(1, text), loop: 0, oldest: SystemClock.monotonic) {}
        let last = TestConsumer.record(2, "the last one")
        guard case .taken = writer.offer(last, loop: 0, oldest: SystemClock.monotonic, isLast: true) else {
            Issue.record("not taken")
            return
        }
        sink.open()
        #expect(writer.finish().failure == nil)
        #expect(texts(Tapes.read(sink.written))[1]?.contains("the last one") == true)
    }

    /// Several loops offer at once to a queue far smaller than what they have, and wait when it is full.
    @Test func nothingIsLostWhileTrafficWaits() throws {
        let sink = TestSink()
        let writer = try writer(sink, .init(bound: 4096))
        let loops = try (0..<4).map { loop in
            try Thread(name: "loop \(loop)") {
                var n = 0
                var batch: [UInt8] = []
                while n < 2000 {
                    if batch.isEmpty {
                        for _ in 0..<20 {
                            batch += TestConsumer.record(UInt64(n), "\(loop)/\(n)")
                            n += 1
                        }
                    }
                    while !batch.isEmpty {
                        switch writer.offer(batch, loop: loop, oldest: SystemClock.monotonic) {
                        case .taken(let spare):
                            #expect(spare.isEmpty)
                            batch = spare
                        case .full(let back): batch = back
                        case .failed: return
                        }
                    }
                }
            }
        }
        for loop in loops { loop.join() }
        let totals = writer.finish()
        #expect(totals.events == 8001 && totals.lost == 0 && totals.failure == nil)
        let reading = Tapes.read(sink.written)
        #expect(reading.error == nil)
        for loop in 0..<4 {
            #expect(texts(reading)[UInt32(loop) + 1] == (0..<2000).map { "\(loop)/\($0)" })
        }
    }

    @Test func whatIsDroppedIsCountedWhereItIsMissing() throws {
        let sink = TestSink(isOpen: false)
        let writer = try writer(sink, .init(overload: .drop, isCompressed: false, bound: 1 << 20))
        let long = String(repeating: "z", count: 300_000)
        var taken = 0
        var dropped = 0
        for n in 0..<40 {
            let batch = TestConsumer.record(UInt64(n), long) + TestConsumer.record(UInt64(n), "\(n)")
            switch writer.offer(batch, loop: n % 2, oldest: SystemClock.monotonic) {
            case .taken: taken += 1
            case .full(let back):
                #expect(back.isEmpty)
                dropped += 1
            case .failed: Issue.record("failed")
            }
        }
        // The sink stands still: at most the queue, what is in hand and what the press let through before.
        #expect(taken < 20 && dropped > 0)
        #expect(writer.queued <= 1 << 20)
        sink.open()
        let totals = writer.finish()
        #expect(totals.lost == UInt64(dropped) * 2)
        let reading = Tapes.read(sink.written)
        #expect(reading.error == nil && reading.isStopped)
        let gaps = reading.events.reduce(UInt64(0)) { sum, event in
            if case .gap(let lost) = event.event.kind { sum + lost } else { sum }
        }
        #expect(gaps == totals.lost)
        #expect(texts(reading).values.joined().count == taken * 2)
        #expect(reading.events.contains { $0.event.kind == .mark("lost on 0") })
    }

    @Test(arguments: 2...6, TapeWriterOptions.DiskFull.allCases)
    func aFailingSinkIsToldOnceAndLeavesWhatWasWritten(failAt: Int, policy: TapeWriterOptions.DiskFull) throws {
        let sink = TestSink(failAt: failAt)
        let failures = Mutex<[TapeError]>([])
        let writer = try writer(sink, .init(diskFull: policy)) { error in failures.withLock { $0.append(error) } }
        // Each batch is a member of its own.
        let text = String(repeating: "m", count: MemberPacker.memberSize)
        var refused = 0
        var taken = 0
        while taken < 20, refused == 0 {
            let batch = TestConsumer.record(1, text)
            switch writer.offer(batch, loop: 0, oldest: SystemClock.monotonic) {
            case .taken: taken += 1
            case .full: break
            case .failed(let back):
                #expect(back == batch)
                refused += 1
            }
        }
        let totals = writer.finish()
        #expect(totals.failure?.kind == .noSpace && writer.failure == totals.failure)
        #expect(failures.withLock { $0.count } == 1)
        #expect(writer.oldestUnwritten == .max)
        if policy == .continue {
            #expect(taken == 20 && totals.discarded > 0)
        }
        #expect(sink.count == failAt)
        let reading = Tapes.read(sink.written)
        #expect(reading.error == nil && reading.isTruncated && reading.events.count >= failAt - 2)
        // One event a member behind the header's. Of the one that failed this sink keeps a half, without its event.
        #expect(totals.events == UInt64(failAt - 2) && reading.events.count == failAt - 2)
        #expect(totals.discarded + totals.events >= UInt64(taken))
    }

    /// Every member is handed to the device, or all of them at the end.
    @Test(arguments: [(.everyMember, 3), (.stop, 1), (.off, 0)] as [(TapeWriterOptions.Sync, Int)])
    func whatWasWrittenIsSynced(_ when: TapeWriterOptions.Sync, _ least: Int) throws {
        let sink = TestSink()
        let writer = try writer(sink, .init(sync: when))
        let text = String(repeating: "m", count: MemberPacker.memberSize)
        for _ in 0..<3 {
            while case .full = writer.offer(TestConsumer.record(1, text), loop: 0, oldest: SystemClock.monotonic) {}
        }
        let totals = writer.finish()
        #expect(totals.failure == nil)
        #expect(when == .everyMember ? sink.synced >= least : sink.synced == least)
    }

    @Test func aSinkThatFailsAtOnceStartsNothing() {
        do {
            _ = try writer(TestSink(failAt: 1))
            Issue.record("started")
        } catch {
            #expect((error as? TapeError)?.kind == .noSpace)
        }
    }

    /// What was offered is with the sink within the packer's patience and is then not unwritten any more.
    @Test func theOldestUnwrittenRecordIsKnown() throws {
        let sink = TestSink()
        let writer = try writer(sink)
        #expect(writer.oldestUnwritten == .max)
        let before = SystemClock.monotonic
        _ = writer.offer(TestConsumer.record(1, "a"), loop: 0, oldest: before)
        #expect(writer.oldestUnwritten == before)
        _ = writer.offer(TestConsumer.record(2, "b"), loop: 1, oldest: before + 5)
        #expect(writer.oldestUnwritten == before || sink.count > 1)
        while writer.oldestUnwritten != .max {}
        #expect(sink.count == 2)
        #expect(Tapes.read(sink.written).events.count == 2)
        _ = writer.finish()
    }

    /// A record is queued until it has become a line, also while its batch is in hand.
    @Test func theOldestQueuedRecordIsKnown() throws {
        let sink = TestSink(isOpen: false)
        let writer = try writer(sink)
        #expect(writer.oldestQueued == .max)
        // A whole member: the thread stands at the sink with it.
        let before = SystemClock.monotonic
        let text = String(repeating: "m", count: MemberPacker.memberSize)
        _ = writer.offer(TestConsumer.record(1, text), loop: 0, oldest: before)
        #expect(writer.oldestQueued == before)
        _ = writer.offer(TestConsumer.record(2, "b"), loop: 1, oldest: before + 5)
        #expect(writer.oldestQueued == before && writer.oldestUnwritten == before)
        sink.open()
        while writer.oldestQueued != .max {}
        while writer.oldestUnwritten != .max {}
        #expect(sink.count == 3)
        _ = writer.finish()
    }

    @Test func aFileIsNeverOverwrittenUnasked() throws {
        let path = temporaryPath("new") + ".tape.gz"
        defer { remove(path) }
        #expect(TapeFile.isCompressed(path) && !TapeFile.isCompressed("x.tape"))
        writeFile(path, [1, 2, 3])
        do {
            _ = try TapeFile(path: path)
            Issue.record("overwritten")
        } catch {
            #expect(error.kind == .exists && error.description == "\(path): exists already; --force overwrites it")
        }
        #expect(readFile(path) == [1, 2, 3])
        let file = try TapeFile(path: path, force: true)
        try file.write([7, 8].span)
        #expect(readFile(path) == [7, 8] && file.written == 2)
        do {
            _ = try TapeFile(path: "/nowhere/at/all.tape")
            Issue.record("made")
        } catch {
            #expect(error.kind == .unwritable)
            #expect(error.message == "cannot be written: No such file or directory")
        }
    }

    @Test func aFullDiskIsNamed() throws {
        let file = try TapeFile(path: "/dev/full", force: true)
        let bytes: [UInt8] = [1]
        do {
            try file.write(bytes.span)
            Issue.record("written")
        } catch {
            #expect(error.kind == .noSpace)
        }
    }
}
