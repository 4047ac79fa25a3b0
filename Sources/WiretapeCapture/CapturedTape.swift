internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeRecorder
package import WiretapeTape

/// Writes the tape of a capture: records in, members out, without a thread and without a clock. The same capture gives the same
/// bytes.
package final class CapturedTape {
    private let sink: any TapeSink
    private var press: TapePress<TapeAssembler>
    private let redaction: TapeRedaction?
    private var member: [UInt8] = []

    /// Writes the header.
    /// - Parameters:
    ///   - origin: the time of the header's `started`, nanoseconds since 1970.
    ///   - line: the header's line as it is, in place of one that is made of `header`.
    ///   - memory: bytes of unfinished messages above which they go to the tape in parts.
    package init(
        _ header: TapeHeader, line: [UInt8]? = nil, origin: UInt64, to sink: any TapeSink, isCompressed: Bool,
        memory: Int, redaction: TapeRedaction?
    ) throws(TapeError) {
        self.sink = sink
        self.redaction = redaction
        let relief = Relief(sink)
        press = TapePress(
            TapeAssembler(origin: origin, memory: memory, redaction: redaction), isCompressed: isCompressed
        ) { bytes, _ in relief.write(bytes) }
        self.relief = relief
        try sink.write(TapePress<TapeAssembler>.header(header, line: line, isCompressed: isCompressed).span)
    }

    private let relief: Relief

    /// What a batch gives beyond what may be kept, written at once.
    private final class Relief {
        let sink: any TapeSink
        var failure: TapeError?

        init(_ sink: any TapeSink) { self.sink = sink }

        func write(_ bytes: Span<UInt8>) {
            guard failure == nil else { return }
            do throws(TapeError) { try sink.write(bytes) } catch { failure = error }
        }
    }

    /// Events on the tape.
    package var events: UInt64 { press.events }

    package func take(_ records: [UInt8], oldest: UInt64) throws(TapeError) {
        press.consume(records, loop: 0, oldest: oldest)
        try write()
    }

    /// Takes an event that needs no assembling, with `time` counted from the header's `started`. Its secrets go.
    package func take(_ event: TapeEvent) throws(TapeError) {
        press.append(event, redaction)
        try write()
    }

    /// Takes a line of another tape as it is, without its line feed. What no reader would take is refused.
    /// - Parameter event: what it says; nil for a comment.
    package func take(line: [UInt8], _ event: TapeEvent?) throws(TapeError) {
        guard line.count <= TapeReader.longestLine else {
            throw TapeError(
                .tooLarge, file: "line \(press.events + 2)", event: press.events,
                "would be longer than the \(TapeReader.longestLine >> 20) MiB that a line of a tape may have")
        }
        press.append(line: line.span, event)
        try write()
    }

    /// Writes what has come so far: of a capture that goes on.
    package func flush() throws(TapeError) {
        press.flush()
        try write()
    }

    /// Ends the tape without a `stop`, as the one that its lines came from.
    package func finishAsIs() throws(TapeError) {
        press.flush()
        try write()
        sink.release()
    }

    package func finish() throws(TapeError) {
        press.finish()
        try write()
        sink.release()
    }

    private func write() throws(TapeError) {
        // Members are cut by their size alone.
        while press.take(now: 0, fill: 0, clock: { 0 }, into: &member) {
            if let failure = relief.failure { throw failure }
            let bytes = member
            try sink.write(bytes.span)
            member.removeAll(keepingCapacity: member.capacity < 4 << 20)
        }
        if let failure = relief.failure { throw failure }
    }
}
