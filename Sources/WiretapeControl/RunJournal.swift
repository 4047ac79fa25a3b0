internal import WiretapeAttempts
internal import WiretapeBytes
package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeRedaction
package import WiretapeReport
internal import WiretapeTape
package import WiretapeWire

/// What happens in a run, told in the shapes of `docs/events.md`: for `--events`, and for whoever asks the control API. Each line is an
/// object with `v`, the version of its shape, and `event`, what it tells. Secrets stand in it as on tapes. Belongs to one thread.
package final class RunJournal {
    /// Something that was told.
    package struct Entry: Sendable {
        /// 1, 2, … in the order in which they happened.
        package let number: UInt64
        package let event: String
        package let session: Int?
        package let run: Int?
        /// Of a message: what it says, without secrets.
        package let message: Message?
        /// The object, without its newline.
        package let text: String

        fileprivate var size: Int { text.utf8.count * 2 + (message?.bytes.count ?? 0) + 256 }
    }

    package static let version = 1
    /// Entries that are kept at most.
    package static let mostKept = 50_000

    /// Hears every line, with its newline.
    package var line: ((String) -> Void)?
    /// Something was told, or something has happened that tells nothing: called within what made it happen.
    package var happened: () -> Void = {}
    /// Whose a connection is, where the traffic itself does not tell: of live traffic.
    package var whose: ((UInt32) -> (session: Int, run: Int)?)?
    package private(set) var tally = RunTally()
    /// The text that people got first of what a client did otherwise.
    package private(set) var firstDivergence: String?

    private var reader: SessionReader
    private let redaction: TapeRedaction
    private var number: UInt64 = 0
    /// The first thing that a client did, from which times count.
    private var origin: UInt64?
    /// The session of the tape that each connection carries.
    private var carried: [UInt32: PlayedMark] = [:]
    /// Messages that were decoded before it was told whose they are.
    private var undecided: [DecodedMessage] = []
    /// Those that are kept, from `first` on.
    private var kept: [Entry] = []
    private var first = 0
    private var size = 0
    private let bound: Int
    /// The number of the last entry; 0: there was none.
    package private(set) var latest: UInt64 = 0

    /// - Parameters:
    ///   - codecs: all that sessions may be of.
    ///   - bound: about how many bytes of what was told are kept for ``entries(after:)``; 0: nothing.
    ///   - rules: what is a secret, of which nothing is told.
    package init(codecs: [CodecEntry], keeping bound: Int = 0, _ rules: RedactionRules = RedactionRules()) {
        reader = SessionReader(codecs: codecs, header: nil, keepsEntries: false)
        redaction = TapeRedaction(rules)
        self.bound = bound
    }

    // MARK: What was told

    /// The number of the oldest entry that is kept; one more than the latest when none is.
    package var oldest: UInt64 { latest + 1 - UInt64(kept.count - first) }

    /// The entries that are kept behind a number, in order.
    package func entries(after number: UInt64) -> ArraySlice<Entry> {
        guard number < latest else { return [] }
        let skipped = number < oldest ? 0 : Int(number - oldest) + 1
        return kept[(first + skipped)...]
    }

    // MARK: What happens

    /// The listeners accept.
    package func ready(_ members: [JSONValue.Member]) { append("ready", 0, members) }

    /// Something has passed between a client and the run.
    package func passed(_ event: TapeEvent) {
        if origin == nil { origin = event.time }
        switch event.kind {
        case .open: tally.opened += 1
        case .mark(let text): if let mark = PlayedMark(text) { carried[mark.connection] = mark }
        case .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault, .take,
            .gap, .missing, .stop, .unknown:
            break
        }
        var shown: [TapeEvent] = []
        redaction.take(event, into: &shown)
        for one in shown {
            number += 1
            reader.read(one, number: number, into: &undecided)
        }
        // Whose a request is, is told behind it.
        if case .request = event.kind { return happened() }
        tellMessages()
        if case .gone = event.kind {
            carried[event.connection] = nil
            tally.gone += 1
        }
        happened()
    }

    package func happened(_ news: [RunNews]) {
        tellMessages()
        for one in news { tell(one) }
        happened()
    }

    /// Somebody has said something about the run.
    package func mark(_ text: String, at time: UInt64) {
        tellMessages()
        append("mark", sinceOrigin(time), [.init("text", .string(redaction.text(text)))])
        happened()
    }

    /// The run is over.
    /// - Parameter time: nanoseconds since it began.
    package func end(_ members: [JSONValue.Member], at time: UInt64) {
        tellMessages()
        append("end", sinceOrigin(time), members)
        happened()
    }

    private func tellMessages() {
        for decoded in undecided {
            let mark: (session: Int, run: Int)? =
                whose.map { $0(decoded.connection) } ?? carried[decoded.connection].map { ($0.session, $0.run) }
            let members: [JSONValue.Member] = [
                .init("c", .number(decoded.connection)), .init("session", mark.map { .number($0.session) } ?? .null),
                .init("run", mark.map { .number($0.run) } ?? .null),
            ]
            switch decoded.message.direction {
            case .toServer: tally.toServer += 1
            case .toClient: tally.toClient += 1
            }
            append(
                "message", sinceOrigin(decoded.time), members + decoded.jsonMembers, mark, message: decoded.message)
        }
        undecided = []
    }

    private func sinceOrigin(_ time: UInt64) -> UInt64 { origin.map { time - min(time, $0) } ?? 0 }

    private func tell(_ news: RunNews) {
        let whose: [JSONValue.Member] = [.init("session", .number(news.session)), .init("run", .number(news.run))]
        func add(_ event: String, _ members: [JSONValue.Member]) {
            append(event, news.time, whose + members, (news.session, news.run))
        }
        switch news.what {
        case .attempt(let number, let retry, let delay):
            tally.attempts += 1
            add(
                "attempt",
                [
                    .init("attempt", .number(number)), .init("retry", .number(retry)),
                    .init("delay_ms", delay.map { .number(DurationText.milliseconds($0)) } ?? .null),
                ])
        case .connected(let attempt, let transport):
            tally.connected += 1
            add(
                "connected",
                [
                    .init("attempt", .number(attempt)),
                    .init("transport", transport.map { .string($0.rawValue) } ?? .null),
                ])
        case .disconnected(let attempt, let outcome, let end):
            tally.disconnected += 1
            add(
                "disconnected",
                [
                    .init("attempt", .number(attempt)),
                    .init("outcome", outcome.map { .string($0.rawValue) } ?? .null), .init("by", .string(end.by.text)),
                    .init("how", .string(end.how.text)), .init("reason", end.reason.map(JSONValue.string) ?? .null),
                ])
        case .fault(let attempt, let rule, let action, let counted):
            tally.faults += 1
            add(
                "fault",
                [
                    .init("attempt", .number(attempt)), .init("rule", .string(rule)), .init("action", .string(action)),
                    .init("message", counted.map(JSONValue.string) ?? .null),
                ])
        case .divergence(let text):
            tally.divergences += 1
            let shown = redaction.text(text)
            firstDivergence = firstDivergence ?? shown
            append("divergence", news.time, [.init("text", .string(shown))])
        case .finished:
            tally.finished += 1
            add("finished", [])
        }
    }

    // MARK: Lines

    private func append(
        _ event: String, _ time: UInt64, _ members: [JSONValue.Member], _ whose: (session: Int, run: Int)? = nil,
        message: Message? = nil
    ) {
        latest += 1
        let text = RunJournal.text(event, time, members)
        line?(text + "\n")
        guard bound > 0 else { return }
        let entry = Entry(
            number: latest, event: event, session: whose?.session, run: whose?.run, message: message, text: text)
        kept.append(entry)
        size += entry.size
        while size > bound || kept.count - first > RunJournal.mostKept, first < kept.count {
            size -= kept[first].size
            first += 1
        }
        if first > 1_024, first * 2 > kept.count {
            kept.removeFirst(first)
            first = 0
        }
    }

    /// An object of `docs/events.md`.
    /// - Parameter time: nanoseconds since the first thing that a client did.
    package static func text(_ event: String, _ time: UInt64, _ members: [JSONValue.Member]) -> String {
        let all: [JSONValue.Member] = [
            .init("v", .number(version)), .init("event", .string(event)),
            .init("t_ms", .number(DurationText.milliseconds(time))),
        ]
        return TerminalText.json(JSONValue.object(all + members).text)
    }
}

/// How often things have happened in a run.
package struct RunTally: Hashable, Sendable {
    package var opened: UInt64 = 0
    package var gone: UInt64 = 0
    package var toServer: UInt64 = 0
    package var toClient: UInt64 = 0
    package var attempts: UInt64 = 0
    package var connected: UInt64 = 0
    package var disconnected: UInt64 = 0
    package var faults: UInt64 = 0
    package var divergences: UInt64 = 0
    package var finished: UInt64 = 0
}
