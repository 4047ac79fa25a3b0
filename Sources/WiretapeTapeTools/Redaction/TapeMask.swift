package import WiretapeProtocol
package import WiretapeTape

/// Shows the events of a tape without secrets, also of one that was recorded with them: what `inspect` and `diff` print.
package struct TapeMask {
    private let redaction: TapeRedaction?

    /// - Parameter header: a tape that says it is redacted is shown as it is.
    package init(_ header: TapeHeader?) {
        let isRedacted = header?.redaction == "default" || header?.redaction == "rules"
        redaction = isRedacted ? nil : TapeRedaction(leavesOut: false)
    }

    /// The event as it is shown. A piece of a stream may give nothing: its bytes are shown with the next one.
    package func shown(_ next: NumberedEvent) -> [NumberedEvent] {
        guard let redaction else { return [next] }
        var events: [TapeEvent] = []
        redaction.take(next.event, into: &events)
        return events.map { event in
            var shown = next
            shown.event = event
            return shown
        }
    }
}
