internal import WiretapeBytes
package import WiretapeProtocol

/// Writes a tape line by line, lines as they were read and events: packed into members, or plain, and from there to a
/// sink or into memory, or nowhere. Events are counted for the members' fields; times are taken as they are.
package struct TapeLineOutput: ~Copyable {
    private let sink: (any TapeSink)?
    private let isCompressed: Bool
    private let keeps: Bool
    private var packer = MemberPacker()
    private var compressor = MemberCompressor()
    /// What was written, when it is kept.
    package private(set) var kept: [UInt8] = []

    /// - Parameter keeps: whether all is kept in memory.
    package init(_ sink: (any TapeSink)?, isCompressed: Bool, keeps: Bool = false) {
        self.sink = sink
        self.isCompressed = isCompressed
        self.keeps = keeps
    }

    /// Events written so far.
    package var events: UInt64 { packer.events }

    /// A line without its line feed. A comment or a header has no event. What no reader would take is refused.
    package mutating func line(_ line: Span<UInt8>, event: TapeEvent?) throws(TapeError) {
        guard line.count <= TapeReader.longestLine else {
            throw TapeError(
                .tooLarge, file: "line \(packer.events + 2)", event: packer.events,
                "would be longer than the \(TapeReader.longestLine >> 20) MiB that a line of a tape may have")
        }
        packer.appendLine(line, event: event)
        try write()
    }

    package mutating func gap(_ lost: UInt64) throws(TapeError) {
        packer.append(TapeEvent(time: packer.lastTime, connection: 0, .gap(lost: lost)))
        try write()
    }

    package mutating func finish() throws(TapeError) {
        packer.flush()
        try write()
    }

    private mutating func write() throws(TapeError) {
        while packer.nextSize > 0 {
            var bytes: [UInt8] = []
            _ =
                isCompressed
                ? packer.takeMember(&compressor, level: LevelPolicy.best, into: &bytes) : packer.takePlain(into: &bytes)
            if let sink { try sink.write(bytes.span) }
            if keeps { kept.append(copying: bytes.span) }
        }
    }
}
