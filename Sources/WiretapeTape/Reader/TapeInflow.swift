package import WiretapeBytes

/// The lines of a tape's file as bytes: inflated member by member, or as they are. Whoever reads goes on after the end
/// when the file has grown. Memory: 64 KiB of the file and zlib's window.
package struct TapeInflow: ~Copyable {
    package enum Step: Equatable {
        /// Bytes were appended.
        case bytes
        /// A member ended with its checksum and length right.
        case memberEnd
        /// There is no more now.
        case end
    }

    package private(set) var input: TapeInput
    /// Told by the first two bytes.
    package private(set) var isCompressed = false
    /// Where the member that is being read begins.
    package private(set) var memberOffset: UInt64 = 0
    /// Whether the file ends within a member, or behind it in zeros that a crashed file system left.
    package private(set) var isTorn = false
    /// Bytes that came out of all members so far.
    package private(set) var inflated: UInt64 = 0

    private var inflater = Inflater(.gzip)
    private var isInMember = false
    private var memberBytes: UInt64 = 0

    /// Output of one step.
    private static let step = 128 << 10

    package init(_ input: consuming TapeInput) throws(TapeError) {
        self.input = input
        if try self.input.fill(2) {
            isCompressed = self.input.buffer[0] == 0x1f && self.input.buffer[1] == 0x8b
        }
    }

    package var name: String { input.name }
    package var offset: UInt64 { input.offset }
    package var size: UInt64 { input.size }

    package mutating func read(into lines: inout [UInt8]) throws(TapeError) -> Step {
        isCompressed ? try inflate(into: &lines) : try copy(into: &lines)
    }

    private mutating func copy(into lines: inout [UInt8]) throws(TapeError) -> Step {
        guard try input.fill(1) else { return .end }
        let buffer = input.buffer
        lines.append(copying: buffer.span.extracting(input.used..<buffer.count))
        inflated += UInt64(input.available)
        input.use(input.available)
        return .bytes
    }

    private mutating func inflate(into lines: inout [UInt8]) throws(TapeError) -> Step {
        if !isInMember {
            guard try input.fill(1) else { return .end }
            memberOffset = input.offset
            memberBytes = 0
            isInMember = true
        }
        while true {
            let before = lines.count
            let buffer = input.buffer
            var used = input.used
            let outcome = inflater.feed(buffer.span, used: &used, limit: TapeInflow.step, into: &lines)
            input.use(used - input.used)
            memberBytes += UInt64(lines.count - before)
            inflated += UInt64(lines.count - before)
            isTorn = false
            try checkRatio()
            switch outcome {
            case .end:
                isInMember = false
                return .memberEnd
            case .full: return .bytes
            case .more:
                if lines.count > before { return .bytes }
                if try !input.more() {
                    try checkWhole()
                    isTorn = true
                    return .end
                }
            case .bad(let fault): return try bad(fault)
            }
        }
    }

    /// At the end of the file, within a member: when its header says that it is all there, it is not torn but damaged.
    private mutating func checkWhole() throws(TapeError) {
        let end = input.offset
        defer { input.seek(to: end) }
        guard let info = try member(at: memberOffset), info.size > MemberInfo.headerSize,
            UInt64(info.size) <= end - memberOffset
        else { return }
        throw damage()
    }

    private func damage() -> TapeError {
        TapeError(
            .damaged, file: name, offset: memberOffset,
            "damaged data or a wrong checksum in the member at byte \(memberOffset)")
    }

    private mutating func bad(_ fault: InflateFault) throws(TapeError) -> Step {
        if memberBytes == 0, try isZeroed() {
            inflater.reset()
            isInMember = false
            isTorn = true
            return .end
        }
        switch fault {
        case .corrupt, .needsDictionary, .windowTooLarge: throw damage()
        case .outOfMemory, .misused:
            throw TapeError(
                .unreadable, file: name, offset: memberOffset,
                "the member at byte \(memberOffset) cannot be inflated: \(fault == .outOfMemory ? "no memory" : "zlib refused")"
            )
        }
    }

    private func checkRatio() throws(TapeError) {
        let taken = max(1, input.offset - min(input.offset, memberOffset))
        guard memberBytes > UInt64(MemberCompressor.freely), memberBytes / taken > UInt64(MemberCompressor.ratio) else {
            return
        }
        throw TapeError(
            .tooLarge, file: name, offset: memberOffset,
            "the member at byte \(memberOffset) inflates to more than \(MemberCompressor.ratio) times its size")
    }

    /// Whether the rest of the file, from where the member should begin, is zeros.
    private mutating func isZeroed() throws(TapeError) -> Bool {
        input.seek(to: memberOffset)
        repeat {
            let buffer = input.buffer
            guard buffer[input.used...].allSatisfy({ $0 == 0 }) else { return false }
            input.use(input.available)
        } while try input.more()
        return true
    }

    // MARK: Members

    /// Goes on with the member that begins at `offset`.
    package mutating func seek(to offset: UInt64) {
        input.seek(to: offset)
        inflater.reset()
        isInMember = false
        isTorn = false
    }

    /// Puts the input back to where it was before ``member(at:)``, in the middle of whatever was being read.
    mutating func comeBack(to offset: UInt64) { input.seek(to: offset) }

    /// The field of the member at `offset`; nil when there is none. ``comeBack(to:)`` or ``seek(to:)`` follows.
    package mutating func member(at offset: UInt64) throws(TapeError) -> MemberInfo? {
        input.seek(to: offset)
        _ = try input.fill(MemberInfo.headerSize)
        let buffer = input.buffer
        return MemberInfo(header: buffer.span, at: input.used)
    }

    /// Where the next member with the field begins behind `offset`; nil when there is none. The bytes of its header do
    /// not occur in lines, and in compressed data by chance once in 2^100 bytes. ``seek(to:)`` follows.
    package mutating func nextMember(after offset: UInt64) throws(TapeError) -> UInt64? {
        input.seek(to: offset + 1)
        while try input.fill(MemberInfo.headerSize) {
            let buffer = input.buffer
            guard let hit = firstIndex(of: 0x1f, in: buffer.span, from: input.used) else {
                input.use(input.available)
                continue
            }
            input.use(hit - input.used)
            guard try input.fill(MemberInfo.headerSize) else { return nil }
            let here = input.buffer
            if MemberInfo(header: here.span, at: input.used) != nil { return input.offset }
            input.use(1)
        }
        return nil
    }
}
