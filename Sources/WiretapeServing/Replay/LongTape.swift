internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeTapeTools

/// What is kept of a tape that is too long to be kept: the scripts of its sessions without their messages, and where on the
/// tape the messages are.
struct LongTape {
    /// Events from which on a tape is long, and bytes of messages.
    static let limit: UInt64 = 16_384
    private static let mostBytes = 16 << 20
    /// Events between two times that entries are taken out of the decoder.
    private static let stride: UInt64 = 2_048
    /// The same in bytes of their messages.
    private static let step = 4 << 20

    private let ignore: [IgnoreRule]
    private var index: TapeIndex
    private var builders: [Int: ScriptBuilder] = [:]
    /// Short sessions that are over, and what their messages are called.
    private var parts: [Int: ColdPart] = [:]
    private var names: [String: Int] = [:]
    /// Events that carry pieces of messages, which cannot be read again alone.
    private var pieces: Set<UInt64> = []
    /// Bytes of messages so far, and since entries were taken out of the decoder.
    private var bytes = 0
    private var fresh = 0
    /// What cannot be read again alone is kept.
    private var held: InterceptedTape

    /// - Parameter memory: what may be kept of it.
    init(isCompressed: Bool, ignore: [IgnoreRule], memory: Int) {
        held = InterceptedTape(memory: memory)
        index = TapeIndex(isCompressed: isCompressed)
        self.ignore = ignore
    }

    /// Takes in the event that `decoder` has just read.
    /// - Throws: when what is kept of the tape takes too much.
    mutating func add(
        _ event: NumberedEvent, _ decoder: inout SessionReader, of name: String
    ) throws(TapeError) {
        index.add(event)
        if case .part = event.event.kind { pieces.insert(event.number) }
        if case .message = event.event.kind {
            bytes += event.event.kind.payloadCount
            fresh += event.event.kind.payloadCount
        } else if event.event.kind.payloadCount > 0 {
            try held.add(event, of: name)
        }
        let isMany = event.number >= LongTape.limit && event.number % LongTape.stride == 0
        if isMany || bytes > LongTape.mostBytes && fresh > LongTape.step {
            fresh = 0
            drain(&decoder)
        }
    }

    private mutating func drain(_ decoder: inout SessionReader) {
        decoder.takeEntries { index, session, entries in
            // Taken out, so that the script grows in place.
            var builder = builders.removeValue(forKey: index) ?? ScriptBuilder(session, ignore: ignore)
            for entry in entries { builder.add(entry, isWhole: !pieces.contains(entry.event)) }
            builders[index] = builder
        }
        for (index, builder) in builders where builder.canBeCold && decoder.isOver(index) { cool(index, builder) }
    }

    private mutating func cool(_ index: Int, _ builder: ScriptBuilder) {
        let part = builder.cold(names: &names)
        if parts[index] == nil { parts[index] = part } else { parts[index]?.append(part) }
        builders[index] = nil
    }

    /// The sessions of the decoder, those that were long without their entries.
    mutating func finish(_ decoder: inout SessionReader, _ reader: borrowing TapeReader) -> [RecordedSession] {
        guard !builders.isEmpty || !parts.isEmpty else { return decoder.finish() }
        drain(&decoder)
        let payloads = TapePayloads(TapeLookup(path: reader.name, header: reader.header, index: index))
        var sessions = decoder.finish()
        for i in sessions.indices {
            if let builder = builders[i] {
                if parts[i] == nil {
                    sessions[i] = builder.finish(sessions[i], from: payloads)
                    builders[i] = nil
                } else {
                    cool(i, builder)
                }
            }
            guard let part = parts.removeValue(forKey: i) else { continue }
            sessions[i] = part.finish(sessions[i], from: payloads, names: names)
            names = [:]
        }
        return sessions
    }
}

/// The events of a long tape, read again when they are wanted.
struct TapePayloads: PayloadSource {
    private let lookup: TapeLookup

    init(_ lookup: TapeLookup) { self.lookup = lookup }

    func event(_ number: UInt64) -> (event: TapeEvent, line: Int, isUnframed: Bool)? { try? lookup.event(number) }
}
