import Testing
import WiretapeBytes
import WiretapeCodecs
import WiretapeFaults
import WiretapeProtocol
import WiretapeRecorder
import WiretapeReplay
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// Every number of a tape at its limits: each tool reads the tape, refuses a line, or the whole of it; none traps.
@Suite struct TapeNumbersTests {
    /// Every number that lines can have is among those that are tried.
    @Test func allAreThere() {
        let tried = Set(NumbersTape.ofLines.map { $0.name.split(separator: ": ")[1] }.map(String.init))
        for wanted in [
            "message.t", "message.c", "request.x", "response.status", "message.frames", "part.n", "close.code",
            "fault.ref",
            "fault.delivered", "fault.line", "gap.lost", "stop.events", "stop.connections", "stop.level", "take.t",
            "frame.head", "tape.tape", "chunk.x", "end.x", "gone.c",
        ] { #expect(tried.contains(wanted), "\(wanted) of \(tried.sorted())") }
        #expect(NumbersTape.ofMessages.count > 40)
    }

    @Test(arguments: NumbersTape.ofLines) func ofLines(_ tape: NumbersTape) throws {
        for number in LimitNumbers.all { try Self.useAll(tape.bytes(with: number)) }
    }

    /// Each tape is read and played whole for each number, which is why not every number is tried at every place each time.
    @Test(arguments: NumbersTape.ofMessages.indices) func ofMessages(_ place: Int) throws {
        let tape = NumbersTape.ofMessages[place]
        for number in LimitNumbers.share(ofPlace: place) { try Self.useAll(tape.bytes(with: number)) }
    }

    /// Times of two recordings on one tape add up.
    @Test func timesOfSeveralTakes() throws {
        let most = UInt64.max
        for time in [most, most - 1, most / 2 + 1] {
            var lines = [#"{"tape":1}"#]
            for take in 0..<3 {
                if take > 0 { lines.append(#"{"t":0,"e":"take","started":"2026-01-02T00:00:00.000000Z"}"#) }
                lines += [
                    #"{"t":1,"c":1,"e":"open"}"#,
                    #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/e","headers":[["Upgrade","websocket"]]}"#,
                    #"{"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
                    #"{"t":4,"c":1,"e":"message","d":">","op":"text","text":"a"}"#,
                    #"{"t":\#(time),"c":1,"e":"message","d":"<","op":"text","text":"b"}"#,
                    #"{"t":\#(time),"c":1,"e":"gone","by":"server","how":"fin"}"#,
                ]
            }
            try Self.useAll(Array((lines.joined(separator: "\n") + "\n").utf8))
        }
    }

    /// What the headers of compressed members claim.
    @Test func ofMembers() throws {
        let most = UInt64.max
        let first = [#"{"tape":1}"#]
        let second = [
            #"{"t":1,"c":1,"e":"open"}"#,
            #"{"t":2,"c":1,"e":"request","x":1,"method":"GET","target":"/e","headers":[["Upgrade","websocket"]]}"#,
            #"{"t":3,"c":1,"e":"response","x":1,"status":101,"headers":[["Upgrade","websocket"]]}"#,
            #"{"t":4,"c":1,"e":"message","d":">","op":"text","text":"a"}"#,
        ]
        for number in [0, 1, most >> 1, most - 1, most] {
            for events in [0, 1, 4, .max] as [UInt32] {
                let info = MemberInfo(
                    events: events, firstTime: number, firstEvent: number, opens: .max, firstConnection: .max)
                var compressor = MemberCompressor()
                var bytes: [UInt8] = []
                let none = MemberInfo(events: 0, firstTime: 0, firstEvent: number, opens: 1, firstConnection: 0)
                for (lines, info) in [(first, none), (second, info), (second, none)] {
                    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
                    compressor.append(text.span, info: info, level: 6, into: &bytes)
                }
                try Self.useAll(bytes)
                guard var tape = try? TapeReader(bytes: bytes, name: "t.tape.gz") else { continue }
                for member in (try? tape.openings()) ?? [] {
                    _ = try? tape.seek(to: member)
                    var reader = SessionReader(codecs: Codecs.all, header: nil)
                    var messages: [DecodedMessage] = []
                    while let next = try? tape.next() { reader.read(next.event, number: next.number, into: &messages) }
                }
            }
        }
    }

    /// All that reads tapes. A tape that is refused as a whole is no more to be looked at.
    private static func useAll(_ bytes: [UInt8]) throws {
        _ = try? CodedTape.findings(bytes)
        if let canonical = try? CodedTape.canonical(bytes) { _ = try? CodedTape.findings(canonical) }
        edit(bytes)
        guard let reading = try? CodedTape.read(bytes) else { return }
        seek(bytes)
        let content = TapeDiff.Content(
            sessions: reading.sessions, exchanges: reading.exchanges, run: run(of: reading.events))
        _ = TapeDiff.compare(content, TapeDiff.Content(sessions: [], exchanges: []))
        _ = TapeDiff.compare(content, content)
        let packed = CodedTape.lines(reading.events)
        #expect(try CodedTape.read(packed).events.count == reading.events.count, "what is read can be written")
        try NumbersPlay(reading).playAll(Array(reading.sessions.prefix(2)))
        var fast = reading
        fast.sessions = cold(reading)
        try NumbersPlay(fast) { $0.speed = .instant }.playAll(Array(reading.sessions.prefix(2)))
    }

    private static func run(of events: [TapeEvent]) -> PlayedRun {
        var run = PlayedRun()
        for (i, event) in events.enumerated() { run.read(event, number: UInt64(i + 1)) }
        return run
    }

    private static func seek(_ bytes: [UInt8]) {
        guard var tape = try? TapeReader(bytes: bytes, name: "t.tape") else { return }
        for time in [UInt64.max, 0] {
            _ = try? tape.seek(toTime: time)
            _ = try? tape.next()
        }
    }

    /// Messages dropped, moved in time and added.
    private static func edit(_ bytes: [UInt8]) {
        guard let selector = try? Selector(parsing: "message[1]", from: RuleSource(file: "--where")) else { return }
        var edits = Array(repeating: TapeEdit(selector), count: 3)
        edits[0].drops = true
        edits[1].after = .max
        edits[2].inserts = [.object([])]
        for edit in edits {
            var editor = TapeEditor(edit, codecs: Codecs.all)
            guard var first = try? TapeLineReader(bytes: bytes, name: "t.tape") else { return }
            while let line = try? first.next() { editor.look(line) }
            guard var second = try? TapeLineReader(bytes: bytes, name: "t.tape") else { return }
            while let line = try? second.next() { _ = try? editor.change(line) }
        }
    }

    /// The sessions as a long tape has them: read again when they are asked for.
    private static func cold(_ reading: CodedTape.Reading) -> [RecordedSession] {
        var events = NumbersEvents()
        for (i, event) in reading.events.enumerated() { events.all[UInt64(i + 1)] = event }
        var names: [String: Int] = [:]
        return reading.sessions.map { session in
            var builder = ScriptBuilder(session, ignore: [])
            for entry in session.entries { builder.add(entry) }
            var bare = session
            bare.entries = []
            guard builder.canBeCold else { return session }
            return builder.cold(names: &names).finish(bare, from: events, names: [:])
        }
    }
}

private struct NumbersEvents: PayloadSource {
    var all: [UInt64: TapeEvent] = [:]

    func event(_ number: UInt64) -> (event: TapeEvent, line: Int, isUnframed: Bool)? {
        all[number].map { ($0, Int(clamping: number), false) }
    }
}
