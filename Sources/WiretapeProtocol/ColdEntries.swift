internal import WiretapeMessages

/// The entries of a session that was over before its tape was read to the end, as the numbers of their events: a long tape
/// may have very many short sessions, most of which nobody will ask for.
package struct ColdEntries: Sendable {
    package let part: ColdPart
    package let source: any PayloadSource

    /// Reads them again. An event that cannot be read is left out.
    package func read(_ session: RecordedSession) -> [RecordedSession.Entry] {
        var entries: [RecordedSession.Entry] = []
        var codec = session.codec.type.init(session.opening)
        var offset: UInt64?
        var last: UInt32 = 0
        for (i, number) in part.events.enumerated() {
            for ending in part.endings where ending.after == i { entries.append(ending.entry) }
            guard number != last else { continue }
            last = number
            guard let found = source.event(UInt64(number)),
                case .message(let direction, let opcode, let payload, let deflated, let fragments) = found.event.kind
            else { continue }
            let shift = offset ?? part.start - min(part.start, found.event.time)
            offset = shift
            let bytes = found.isUnframed ? type(of: codec).framed(payload) : payload
            var messages: [Message] = []
            codec.decode(bytes.span, opcode, direction, into: &messages)
            messages.removeAll { $0.role == .keepalive || $0.role == .ack }
            // What is sent again after a stateful reconnect stands before what is new.
            let count = part.events[i...].prefix { $0 == number }.count
            let (time, isTooLate) = found.event.time.addingReportingOverflow(shift)
            for message in messages.suffix(count) {
                entries.append(
                    RecordedSession.Entry(
                        event: UInt64(number), line: found.line, time: isTooLate ? .max : time,
                        connection: found.event.connection, frame: i + 1, isDeflated: deflated,
                        frameSizes: fragments.map { Int32(clamping: $0) }, .message(message)))
            }
        }
        for ending in part.endings where ending.after == part.events.count { entries.append(ending.entry) }
        return entries
    }
}
