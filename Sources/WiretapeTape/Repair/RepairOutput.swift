internal import WiretapeBytes
internal import WiretapeCore

/// Where a repair puts lines: packed into members, or plain, and from there to a file or into memory, or nowhere.
struct RepairOutput: ~Copyable {
    private let file: TapeFile?
    private let isCompressed: Bool
    private let keeps: Bool
    private var packer = MemberPacker()
    private var compressor = MemberCompressor()
    /// What was written, when it is kept.
    private(set) var kept: [UInt8] = []

    /// - Parameter keeps: whether all is kept in memory.
    init(file: TapeFile?, isCompressed: Bool, keeps: Bool = false) {
        self.file = file
        self.isCompressed = isCompressed
        self.keeps = keeps
    }

    /// A line as it was, without its line feed. A comment or a header has no event.
    mutating func line(_ line: Span<UInt8>, event: TapeEvent?) throws(TapeError) {
        packer.appendLine(line, event: event)
        try write()
    }

    mutating func gap(_ lost: UInt64) throws(TapeError) {
        packer.append(TapeEvent(time: packer.lastTime, connection: 0, .gap(lost: lost)))
        try write()
    }

    mutating func finish() throws(TapeError) {
        packer.flush()
        try write()
    }

    private mutating func write() throws(TapeError) {
        while packer.nextSize > 0 {
            var bytes: [UInt8] = []
            _ =
                isCompressed
                ? packer.takeMember(&compressor, level: LevelPolicy.best, into: &bytes) : packer.takePlain(into: &bytes)
            if let file { try file.write(bytes.span) }
            if keeps { kept.append(copying: bytes.span) }
        }
    }
}
