import Testing
import WiretapeRecorder
import WiretapeTape
import WiretapeTapeTools

/// A recording on a disk that fails at each of its first 1,000 operations, or is lost: the tape opens, what was synced is
/// there, and what is told of the tape is true.
struct RecordOnDiskTests {
    private static let path = "tapes/a.tape"
    private static let mostPerCall = 11

    /// How a recording is written.
    struct Way: CustomTestStringConvertible {
        var sync: TapeWriterOptions.Sync
        var isCompressed: Bool
        /// One is long enough for 1,000 operations.
        var batches: Int

        var options: TapeWriterOptions { TapeWriterOptions(isCompressed: isCompressed, sync: sync) }
        var testDescription: String { "\(sync.rawValue), \(isCompressed ? "compressed" : "plain"), \(batches) batches" }
    }

    static let ways = TapeWriterOptions.Sync.allCases.flatMap { sync in
        [true, false].map { Way(sync: sync, isCompressed: $0, batches: sync == .everyMember && $0 ? 90 : 15) }
    }

    /// How it went, and what is on the disk.
    private struct Run {
        var disk: SimulatedDisk
        /// Nil when the recording did not begin.
        var totals: TapeTotals?
        var error: TapeError?
        /// Batches that were offered.
        var offered = 0

        var tape: [UInt8]? { disk.files[RecordOnDiskTests.path]?.bytes }
    }

    /// Every batch is due at once and becomes a member of its own.
    private func record(
        _ way: Way, over old: [String: DiskState.Content] = [:],
        failure: (from: Int, how: SimulatedDisk.Fault)? = nil, remembers: Bool = false
    ) -> Run {
        let disk = SimulatedDisk(old, mostPerCall: Self.mostPerCall, failure: failure, remembers: remembers)
        var run = Run(disk: disk)
        do throws(TapeError) {
            let file = try TapeFile(path: Self.path, force: !old.isEmpty, in: disk)
            let writer = try TapeWriter(
                header: Tapes.header, to: file, options: way.options, clock: { 1_000_000_000 },
                consumer: { TestConsumer() },
                onFailure: { _ in })
            loop: for n in 0..<way.batches {
                let batch = TestConsumer.record(UInt64(n), "message \(n)")
                switch writer.offer(batch, loop: 0, oldest: 0) {
                case .taken, .full: run.offered += 1
                case .failed: break loop
                }
            }
            run.totals = writer.finish()
        } catch {
            run.error = error
        }
        return run
    }

    private func events(_ bytes: [UInt8]?) -> (count: Int, reading: Tapes.Reading) {
        let reading = Tapes.read(bytes ?? [])
        return (reading.events.count - (reading.isStopped ? 1 : 0), reading)
    }

    @Test(arguments: ways, SimulatedDisk.Fault.allCases)
    func anOperationThatFails(_ way: Way, _ fault: SimulatedDisk.Fault) throws {
        let whole = record(way)
        let operations = whole.disk.operations.count
        let made = way.batches + 1
        #expect(
            whole.totals?.events == UInt64(made) && whole.totals?.failure == nil && events(whole.tape).count == made)
        #expect(operations > (way.batches > 50 ? 1000 : 50))
        var failed = 0
        for n in fault.places(operations) {
            let run = record(way, failure: (n, fault))
            let place =
                "\(way.testDescription) \(fault) at operation \(n) of \(operations): \(run.disk.operations.suffix(3))"
            failed += run.disk.hasFailed ? 1 : 0
            guard fault != .short, run.disk.hasFailed else {
                #expect(run.totals == whole.totals && run.disk.files == whole.disk.files, "\(place)")
                continue
            }
            guard let totals = run.totals else {
                // Nothing was recorded, and nothing is left that looks like a recording.
                #expect(run.error != nil, "\(place)")
                if fault != .gone { #expect(run.disk.files.isEmpty, "\(place)") }
                continue
            }
            #expect(totals.failure != nil, "\(place)")
            if fault == .noSpace { #expect(totals.failure?.kind == .noSpace, "\(place): \(totals)") }
            let (count, reading) = events(run.tape)
            #expect(reading.error == nil, "\(place): \(String(describing: reading.error))")
            // What is on the tape and is not counted: a member that could not be synced, and whole lines of one that could not
            // be taken away again.
            let isTorn = way.sync == .everyMember || fault == .gone
            #expect(totals.events == UInt64(count) || (isTorn && totals.events + 1 == count), "\(place): \(totals)")
            #expect(totals.discarded + totals.events >= UInt64(run.offered), "\(place): \(totals)")
            if fault != .gone { #expect(!reading.isTruncated, "\(place)") }
        }
        #expect(failed > fault.places(operations).count / 2)
    }

    /// What a recording is told to write over is emptied only when it has been locked, and is gone then.
    @Test(arguments: SimulatedDisk.Fault.allCases) func anOlderTapeIsWrittenOver(_ fault: SimulatedDisk.Fault) throws {
        let way = Way(sync: .stop, isCompressed: true, batches: 5)
        let old = DiskState.Content(bytes: Tapes.plain(Tapes.events(30)), mode: 0o644)
        let whole = record(way, over: [Self.path: old])
        #expect(whole.disk.files[Self.path]?.mode == 0o644)
        for n in 1...30 {
            let run = record(way, over: [Self.path: old], failure: (n, fault))
            let place = "\(fault) at operation \(n): \(run.disk.operations)"
            guard run.totals == nil, fault != .gone else { continue }
            #expect(run.disk.files[Self.path].map { $0 == old } ?? true, "\(place)")
        }
    }

    /// The machine stops at some operation. What was synced is there, and what can be read again is saved by a repair.
    @Test(arguments: ways, DiskState.Survival.allCases)
    func aCrash(_ way: Way, _ survival: DiskState.Survival) throws {
        let run = record(way, remembers: true)
        let history = run.disk.history
        // Most states differ little in what is certain.
        var known: [[UInt8]: Int] = [:]
        func count(_ bytes: [UInt8]?) -> Int {
            guard let bytes else { return 0 }
            if known[bytes] == nil { known[bytes] = events(bytes).count }
            return known[bytes] ?? 0
        }
        for (n, state) in history.enumerated().prefix(1001) {
            let place =
                "\(way.testDescription) \(survival) after operation \(n) of \(history.count - 1): \(state.operations.suffix(3))"
            let synced = state.durable[Self.path].map { count($0.bytes) }
            let now = count(state.files[Self.path]?.bytes)
            if way.sync == .everyMember, let synced { #expect(now - synced <= 1, "\(place)") }
            let left = state.survivor(survival, seed: UInt64(n))[Self.path]
            #expect(left != nil || synced == nil, "\(place)")
            let found = count(left?.bytes)
            #expect(found >= synced ?? 0 && found <= now, "\(place): \(found), \(String(describing: synced))")
            guard n % 7 == 0, let left else { continue }
            let texts = Tapes.read(left.bytes).events.map(\.event)
            do throws(TapeError) {
                let (bytes, report) = try TapeRepair.repair(
                    bytes: left.bytes, name: "a", isCompressed: way.isCompressed)
                #expect(report.events >= UInt64(texts.count), "\(place)")
                let repaired = Tapes.read(bytes)
                #expect(repaired.error == nil && !repaired.isTruncated, "\(place)")
                #expect(repaired.events.map(\.event).starts(with: texts), "\(place)")
            } catch {
                // There is nothing of a tape when not even its header was synced.
                #expect((synced ?? 0) == 0 && texts.isEmpty, "\(place): \(error)")
            }
        }
        if way.sync != .off {
            #expect(history.last?.survivor(survival, seed: 1) == run.disk.files, "\(way.testDescription) \(survival)")
        }
    }
}
