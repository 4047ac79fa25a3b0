internal import Synchronization
package import WiretapeProtocol
internal import WiretapeSystem
package import WiretapeTape

/// Writes a tape on a thread of its own, behind a queue bounded by bytes. The loops hand over batches and never wait:
/// they learn when the queue is full and how old the oldest unwritten record is, and decide. Memory: the queue's bound,
/// the lines of a few batches, one member.
package final class TapeWriter: TapSink, Sendable {
    private let shared: WriterShared
    private let thread: Thread
    private let countEvents: @Sendable ([UInt8]) -> UInt64

    /// Writes the header at once, then starts the thread. When one of them fails, the sink is told to take away what it has.
    /// - Parameters:
    ///   - sink: the thread's own from then on.
    ///   - consumer: makes what turns records into lines; it is called on the thread and stays there.
    ///   - clock: monotonic nanoseconds, the clock of the loops.
    ///   - onFailure: called once, on the thread, when the sink has failed.
    package init<Consumer: RecordConsumer>(
        header: TapeHeader, to sink: any TapeSink, options: TapeWriterOptions,
        clock: @escaping @Sendable () -> UInt64, consumer: @escaping @Sendable () -> Consumer,
        onFailure: @escaping @Sendable (TapeError) -> Void
    ) throws(TapeError) {
        let start = TapePress<Consumer>.header(header, isCompressed: options.isCompressed)
        do throws(TapeError) {
            try sink.write(start.span)
        } catch {
            sink.discard()
            throw error
        }
        let started = UInt64(start.count)
        let shared = WriterShared(sink: sink, options: options, clock: clock, onFailure: onFailure)
        self.shared = shared
        countEvents = { Consumer.countEvents(in: $0) }
        do {
            thread = try Thread(name: "tape-writer") {
                // Where processors are short, those who wait for answers go first: what is written waits in a bounded queue.
                Thread.giveWay(by: 5)
                WriterRun(shared, consumer(), fileBytes: started).run()
            }
        } catch {
            sink.discard()
            throw TapeError(.unwritable, file: "tape", "the writer's thread cannot be started: \(error.reason)")
        }
    }

    deinit { shared.gate.update { $0.isFinishing = true } }

    package var waits: Bool { shared.options.overload == .wait }

    /// Monotonic time of the oldest record that was taken and is not with the kernel yet; `.max` when there is none.
    package var oldestUnwritten: UInt64 { shared.ages.unwritten }

    /// Monotonic time of the oldest record that was taken and is not a line yet; `.max` when there is none.
    package var oldestQueued: UInt64 { shared.ages.queued }

    /// Bytes that wait.
    package var queued: Int { shared.gate.withLock { $0.bytes } }

    /// Why nothing is written any more.
    package var failure: TapeError? { shared.gate.withLock { $0.failure } }

    package func offer(_ batch: consuming [UInt8], loop: Int, oldest: UInt64, isLast: Bool) -> TapOffer {
        // The closures may not consume what is captured.
        let batch = batch
        return shared.gate.update { queue in
            if queue.failure != nil { return failed(batch, &queue) }
            let isFull = !isLast && queue.bytes > 0 && queue.bytes + batch.count > shared.options.bound
            if isFull { return full(batch, loop, &queue) }
            shared.ages.queued(since: oldest)
            return .taken(spare: queue.push(batch, loop: loop, oldest: oldest))
        }
    }

    private func failed(_ batch: [UInt8], _ queue: inout WriterQueue) -> TapOffer {
        guard shared.options.diskFull == .continue else { return .failed(batch) }
        queue.discarded += countEvents(batch)
        return .taken(spare: [])
    }

    private func full(_ batch: [UInt8], _ loop: Int, _ queue: inout WriterQueue) -> TapOffer {
        guard shared.options.overload == .drop else { return .full(batch) }
        queue.lose(countEvents(batch), loop: loop)
        return .full([])
    }

    /// Writes what is queued and the `stop`, and ends the thread. What is offered later is not written. A second call
    /// gives the same totals.
    package func finish() -> TapeTotals {
        end()
        shared.sink.release()
        return shared.gate.withLock { $0.totals } ?? TapeTotals()
    }

    /// Ends the thread and takes the tape away: nothing came of the recording.
    package func discard() {
        end()
        shared.sink.discard()
        shared.sink.release()
    }

    private func end() {
        shared.gate.update { $0.isFinishing = true }
        thread.join()
    }
}
