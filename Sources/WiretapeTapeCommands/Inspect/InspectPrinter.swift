internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTape

/// Writes the rows of a tape to standard output, many in one call, and counts them.
struct InspectPrinter {
    private var format: any InspectFormat
    private var filter: InspectFilter?
    private var inspector: Inspector
    private var rows: [InspectRow] = []
    private var text = ""
    private var events: UInt64 = 0
    private var messages: UInt64 = 0
    private var sessions = 0
    private var shown: UInt64 = 0

    private static let batch = 64 << 10
    /// Where the text goes; nil: to standard output.
    private let put: ((String) -> Void)?

    init(
        _ format: any InspectFormat, filter: InspectFilter?, header: TapeHeader, put: ((String) -> Void)? = nil
    ) {
        self.put = put
        self.format = format
        self.filter = filter
        inspector = Inspector(header: header)
        self.format.begin(into: &text)
    }

    mutating func append(_ next: NumberedEvent) {
        events += 1
        rows.removeAll(keepingCapacity: true)
        inspector.read(next.event, number: next.number, isUnframed: next.isUnframed, into: &rows)
        for row in rows {
            if let message = row.message {
                messages += 1
                sessions = max(sessions, message.session)
            }
            guard filter?.shows(row) ?? true else { continue }
            shown += 1
            format.append(row, into: &text)
        }
        if text.utf8.count >= InspectPrinter.batch { flush() }
    }

    mutating func flush() {
        guard !text.isEmpty else { return }
        if let put {
            put(text)
        } else if format.isJSON {
            Console.output.writeJSON(text)
        } else {
            Console.output.write(text)
        }
        text = ""
    }

    mutating func finish() {
        format.finish(into: &text)
        flush()
    }

    /// `73 events, 40 messages, 1 session`
    var totals: String {
        func count(_ n: some BinaryInteger, _ word: String) -> String { "\(n) \(word)\(n == 1 ? "" : "s")" }
        let all = "\(count(events, "event")), \(count(messages, "message")), \(count(sessions, "session"))"
        return filter == nil ? all : "\(count(shown, "row")) shown of \(all)"
    }
}
