internal import WiretapeSystem
internal import WiretapeTape

/// What a writer and its thread both know.
final class WriterShared: Sendable {
    let gate = Gate(WriterQueue())
    let ages = RecordAges()
    let sink: any TapeSink
    let options: TapeWriterOptions
    let clock: @Sendable () -> UInt64
    let onFailure: @Sendable (TapeError) -> Void

    init(
        sink: any TapeSink, options: TapeWriterOptions, clock: @escaping @Sendable () -> UInt64,
        onFailure: @escaping @Sendable (TapeError) -> Void
    ) {
        self.sink = sink
        self.options = options
        self.clock = clock
        self.onFailure = onFailure
    }

    /// Hands whole members to the sink. After a failure what is still packed is let go: the tape ends where it was whole.
    /// - Parameter tally: what they hold.
    /// - Returns: whether they are written.
    @discardableResult func write(_ members: Span<UInt8>, _ tally: MemberTally) -> Bool {
        guard gate.withLock({ $0.failure }) == nil else { return false }
        do throws(TapeError) {
            try sink.write(members)
            if options.sync == .everyMember { try sink.sync() }
            gate.withLock { $0.written = $0.written + tally }
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// Hands the whole tape to the device when the recording ends.
    func sync() {
        guard options.sync != .off, gate.withLock({ $0.failure }) == nil else { return }
        do throws(TapeError) { try sink.sync() } catch { fail(error) }
    }

    private func fail(_ error: TapeError) {
        gate.update { $0.failure = error }
        onFailure(error)
    }
}
