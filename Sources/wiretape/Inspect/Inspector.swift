internal import WiretapeCodecs
package import WiretapeCore

/// Turns the events of a tape into rows, one tape at a time, in bounded memory.
package struct Inspector: Sendable {
    private var reader: SessionReader
    private var decoded: [DecodedMessage] = []

    package init(header: TapeHeader? = nil) {
        reader = SessionReader(codecs: Codecs.all, header: header, keepsEntries: false)
    }

    /// Appends the rows of one event: usually one, several when a frame held several messages.
    package mutating func read(
        _ event: TapeEvent, number: UInt64, isUnframed: Bool = false, into rows: inout [InspectRow]
    ) {
        decoded.removeAll(keepingCapacity: true)
        reader.read(event, number: number, isUnframed: isUnframed, into: &decoded)
        for message in decoded {
            rows.append(
                InspectRow(
                    event: number, time: message.time, connection: message.connection,
                    direction: message.message.direction,
                    kind: message.message.role == .keepalive ? .keepalive : .message, text: message.message.title,
                    message: message))
        }
        if decoded.isEmpty {
            let (kind, direction, text) = Inspector.describe(event.kind)
            var request: RequestHead?
            if case .request(_, let head, _) = event.kind { request = head }
            rows.append(
                InspectRow(
                    event: number, time: event.time, connection: event.connection, direction: direction, kind: kind,
                    text: Summary.line(text), request: request))
        }
    }
}
