internal import WiretapeBytes
internal import WiretapeCodecs
internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeTape
internal import WiretapeTapeTools

/// Tapes of strangers, damaged ones, and those that our recorder writes.
enum TapeTargets {
    static let all = [
        FuzzTarget("tape-lines") { lines($0) },
        FuzzTarget("tape-members", longest: 8_192) { members(FuzzInput($0)) },
        FuzzTarget("assembler") { assembler(FuzzInput($0)) },
    ]

    /// A line that was read and written again is the same event; the validator and the session reader take all of them.
    private static func lines(_ bytes: [UInt8]) -> String? {
        var parser = TapeLineParser()
        for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: true) {
            let line = Array(line)
            _ = TapeLineParser.header(line.span)
            guard let event = try? parser.parse(line.span).event else { continue }
            if case .unknown = event.kind { continue }
            var written: [UInt8] = []
            TapeLines.append(event, into: &written)
            if written.last == 0x0a { written.removeLast() }
            var reader = TapeLineParser()
            guard let again = try? reader.parse(written.span).event else {
                return "cannot be read again: \(String(decoding: written, as: UTF8.self))"
            }
            guard again == event else { return "reads otherwise when written again: \(event)\n\(again)" }
        }
        var tape = Array(#"{"tape":1}"#.utf8) + [0x0a]
        tape += bytes
        _ = read(tape)
        _ = validated(tape)
        return nil
    }

    /// A damaged file is refused or read, and what a repair leaves can be read to its end.
    private static func members(_ input: FuzzInput) -> String? {
        var file = input.payload
        if input.chooses(0) { file = packed(input) }
        _ = read(file)
        _ = validated(file)
        guard let repaired = try? TapeRepair.repair(bytes: file, name: "fuzz.tape", isCompressed: input.chooses(1))
        else {
            return nil
        }
        guard let events = read(repaired.bytes) else { return "what was repaired cannot be read" }
        let kept = events.count { if case .gap = $0.kind { false } else { true } }
        return UInt64(kept) <= repaired.report.events + 1
            ? nil : "\(kept) events where \(repaired.report.events) were kept"
    }

    /// The payload in two members of a tape, of which one byte may be wrong or the end missing.
    private static func packed(_ input: FuzzInput) -> [UInt8] {
        var compressor = MemberCompressor()
        var out: [UInt8] = []
        let half = input.payload.firstIndex(of: 0x0a).map { $0 + 1 } ?? input.payload.count
        for part in [Array(input.payload[..<half]), Array(input.payload[half...])] where !part.isEmpty {
            let info = MemberInfo(
                size: 0, events: UInt32(part.count { $0 == 0x0a }), firstTime: 0, firstEvent: 1, opens: 0,
                firstConnection: 0)
            compressor.append(part.span, info: info, level: 1, into: &out)
        }
        var random = SplitMix64(seed: UInt64(input.choices))
        guard !out.isEmpty else { return out }
        if input.chooses(2) { out[random.below(out.count)] ^= 1 << UInt8(random.below(8)) }
        if input.chooses(3) { out.removeLast(random.below(out.count)) }
        return out
    }

    /// Records of any order and content: the tape that comes of them can be read whole, and validate finds no error.
    private static func assembler(_ input: FuzzInput) -> String? {
        let tape = InlineTape(
            header: TapeHeader(started: "2026-01-01T00:00:00.000000Z", redaction: "none"),
            origin: WireInstant(nanoseconds: 0))
        var batch: [UInt8] = []
        var time: UInt64 = 0
        for turn in input.turns {
            time += turn.chooses(7) ? 6_000_000 : 1_000
            let kind = UInt8(1 + Int(turn.choices & 15) % 13)
            let connection = UInt8(1 + (turn.choices >> 4 & 1))
            let flags = turn.bytes.first ?? 0
            let body = Array(turn.bytes.dropFirst())
            batch += [kind, flags, 0, 0, connection, 0, 0, 0]
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                batch.append(UInt8(truncatingIfNeeded: time >> shift))
            }
            batch += [turn.choices >> 5 & 1 + 1, 0, 0, 0]
            batch += [UInt8(truncatingIfNeeded: body.count), UInt8(truncatingIfNeeded: body.count >> 8), 0, 0]
            batch += body
        }
        _ = tape.offer(batch, loop: 0, oldest: 0)
        return unsound(tape.finish())
    }

    /// What is wrong with a tape that our recorder wrote.
    static func unsound(_ tape: [UInt8]) -> String? {
        guard read(tape) != nil else { return "the tape cannot be read:\n\(String(decoding: tape, as: UTF8.self))" }
        let errors = validated(tape).filter { $0.severity == .error }
        return errors.isEmpty ? nil : "\(errors)\n\(String(decoding: tape, as: UTF8.self))"
    }

    /// All events and the sessions made of them; nil when the tape is refused.
    private static func read(_ file: [UInt8]) -> [TapeEvent]? {
        do throws(TapeError) {
            var reader = try TapeReader(bytes: file, name: "fuzz.tape")
            var sessions = SessionReader(codecs: Codecs.all, header: reader.header)
            var messages: [DecodedMessage] = []
            var events: [TapeEvent] = []
            while let next = try reader.next() {
                events.append(next.event)
                sessions.read(
                    next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            }
            _ = sessions.finish()
            return events
        } catch {
            return nil
        }
    }

    private static func validated(_ file: [UInt8]) -> [TapeFinding] {
        var findings: [TapeFinding] = []
        var validator = TapeValidator(codecs: Codecs.all)
        do throws(TapeError) {
            var reader = try TapeLineReader(bytes: file, name: "fuzz.tape")
            while let line = try reader.next() { validator.check(line, into: &findings) }
            _ = validator.finish(isTruncated: reader.isTruncated, into: &findings)
        } catch {
            return findings
        }
        return findings
    }
}
