import Testing
import WiretapeTape

/// Commands that change tapes, on a disk that fails at each of their first 1,000 operations: afterwards the old tape is there
/// untouched or the new one whole.
struct RewriteOnDiskTests {
    private func run(_ job: RewriteJob, _ disk: SimulatedDisk) -> (any Error)? {
        do {
            try job.run(disk)
            return nil
        } catch {
            return error
        }
    }

    /// The files before and after a run that nothing happens to, and its operations.
    private func undisturbed(
        _ job: RewriteJob
    ) throws -> (
        old: [String: DiskState.Content], new: [String: DiskState.Content], history: [DiskState], operations: Int
    ) {
        let old = try job.files()
        let disk = SimulatedDisk(old, mostPerCall: job.mostPerCall, remembers: true)
        try job.run(disk)
        let new = disk.files
        #expect(new.keys.sorted() == Set(old.keys).union([job.path]).sorted())
        let bytes = try #require(new[job.path]?.bytes)
        #expect(bytes != old[job.path]?.bytes)
        let reading = Tapes.read(bytes)
        #expect(reading.error == nil && !reading.isTruncated && reading.events.count > 20)
        if let mode = old[job.path]?.mode { #expect(new[job.path]?.mode == mode) }
        let operations = disk.operations.count
        #expect(operations > 60)
        return (old, new, disk.history, operations)
    }

    @Test(arguments: RewriteJob.allCases, SimulatedDisk.Fault.allCases)
    func anOperationThatFails(_ job: RewriteJob, _ fault: SimulatedDisk.Fault) throws {
        let (old, new, _, operations) = try undisturbed(job)
        var failed = 0
        for n in fault.places(operations) {
            let disk = SimulatedDisk(old, mostPerCall: job.mostPerCall, failure: (n, fault))
            let error = run(job, disk)
            failed += disk.hasFailed ? 1 : 0
            let place = "\(job) \(fault) at operation \(n) of \(operations): \(disk.operations.suffix(3))"
            switch fault {
            case .short: #expect(error == nil && disk.files == new, "\(place): \(String(describing: error))")
            case .inputOutput, .noSpace:
                #expect((error == nil) == !disk.hasFailed, "\(place): \(String(describing: error))")
                // What is renamed already stays, also where its folder could not be synced.
                let isMoved = disk.operations.contains(.move) && disk.operations[n - 1] == .folder
                let expected = error == nil || isMoved ? new : old
                #expect(disk.files == expected, "\(place): \(disk.files.mapValues(\.bytes.count))")
                if fault == .noSpace, error != nil {
                    #expect((error as? TapeError)?.kind == .noSpace, "\(place): \(String(describing: error))")
                }
            case .gone:
                // What was begun cannot be taken away.
                #expect(error != nil, "\(place)")
                for (name, content) in old {
                    #expect([content, new[name]].contains(disk.files[name]), "\(place): \(name)")
                }
            }
            // Whatever was left, the next run works; tried at some operations, and at all around the end.
            guard n % 9 == 0 || n > operations - 12 else { continue }
            disk.heal()
            #expect(run(job.again(disk.files), disk) == nil, "\(place): again")
            #expect(disk.files[job.path] == new[job.path], "\(place): again")
            if let content = old[RewriteJob.tape], job.path != RewriteJob.tape {
                #expect(disk.files[RewriteJob.tape] == content, "\(place): again")
            }
        }
        #expect(failed > fault.places(operations).count / 4, "\(failed) of \(operations)")
    }

    /// No file takes the place of a pipe or a device, and none is taken away when something fails.
    @Test(
        arguments: [RewriteJob.canonOver, .editOver, .repairOver], [.inputOutput, .noSpace] as [SimulatedDisk.Fault])
    func anOutputThatIsNoFile(_ job: RewriteJob, _ fault: SimulatedDisk.Fault) throws {
        var files = try job.files()
        files[job.path]?.bytes = []
        let whole = SimulatedDisk(files, mostPerCall: job.mostPerCall, pipe: job.path)
        try job.run(whole)
        let written = try #require(whole.files[job.path]?.bytes)
        #expect(Tapes.read(written).events.count > 20)
        for n in 1...whole.operations.count {
            let disk = SimulatedDisk(files, mostPerCall: job.mostPerCall, failure: (n, fault), pipe: job.path)
            let error = run(job, disk)
            let place = "\(job) \(fault) at operation \(n): \(disk.operations.suffix(3))"
            #expect((error == nil) == !disk.hasFailed, "\(place)")
            #expect(disk.files.keys.sorted() == files.keys.sorted(), "\(place)")
            #expect(Set(disk.operations).isDisjoint(with: [.move, .remove, .make, .lock, .sync]), "\(place)")
        }
    }

    /// The machine stops at some operation, and what was not synced is lost, whole or in part.
    @Test(arguments: RewriteJob.allCases, DiskState.Survival.allCases)
    func aCrash(_ job: RewriteJob, _ survival: DiskState.Survival) throws {
        let (old, new, history, operations) = try undisturbed(job)
        #expect(history.count == operations + 1)
        for (n, state) in history.enumerated().prefix(1001) {
            let left = state.survivor(survival, seed: UInt64(n))
            let place = "\(job) \(survival) after operation \(n) of \(operations): \(state.operations.suffix(3))"
            for (name, content) in old {
                #expect([content, new[name]].contains(left[name]), "\(place): \(name)")
            }
            // Where there was no file before, a crash may leave a part of one, which then is refused unless it is written over.
            guard n % 10 == 0 || n > operations - 20 else { continue }
            let disk = SimulatedDisk(left, mostPerCall: job.mostPerCall)
            #expect(run(job.again(left), disk) == nil, "\(place): again")
            #expect(disk.files[job.path]?.bytes == new[job.path]?.bytes, "\(place): again")
        }
        // When the command is over, nothing more can be lost.
        #expect(history.last?.survivor(survival, seed: 1) == new, "\(job) \(survival)")
    }
}
