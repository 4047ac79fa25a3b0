internal import WiretapeCodecs
internal import WiretapeMessages
package import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeWire

/// Turns the events of a tape into rows, one tape at a time, in bounded memory.
package struct Inspector: Sendable {
    private var reader: SessionReader
    private var decoded: [DecodedMessage] = []
    /// The upstreams of open connections, on a tape with several.
    private var upstreams: [UInt32: String] = [:]
    private let hasUpstreams: Bool

    package init(header: TapeHeader? = nil) {
        reader = SessionReader(codecs: Codecs.all, header: header, keepsEntries: false)
        hasUpstreams = !Upstreams(header?.upstreams.map(\.name) ?? []).names.isEmpty
    }

    /// Appends the rows of one event: usually one, several when it completed several messages. A request or answer keeps
    /// its own row before those of the messages in its body.
    package mutating func read(
        _ event: TapeEvent, number: UInt64, isUnframed: Bool = false, into rows: inout [InspectRow]
    ) {
        decoded.removeAll(keepingCapacity: true)
        reader.read(event, number: number, isUnframed: isUnframed, into: &decoded)
        var request: RequestHead?
        var isHead = false
        switch event.kind {
        case .request(_, let head, _): (request, isHead) = (head, true)
        case .response: isHead = true
        case .open, .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap,
            .missing, .stop, .unknown:
            break
        }
        follow(event)
        if decoded.isEmpty || isHead {
            let (kind, direction, text) = Inspector.describe(event.kind)
            let place = request == nil ? nil : upstreams[event.connection].map { ", at \($0)" }
            rows.append(
                InspectRow(
                    event: number, time: event.time, connection: event.connection, direction: direction, kind: kind,
                    text: Summary.line(text + (place ?? "")), request: request))
        }
        for body in reader.undecoded {
            rows.append(
                InspectRow(
                    event: number, time: event.time, connection: event.connection, direction: body.direction,
                    kind: .note, text: body.text))
        }
        for message in decoded {
            rows.append(
                InspectRow(
                    event: number, time: message.time, connection: message.connection,
                    direction: message.message.direction,
                    kind: message.message.role == .keepalive ? .keepalive : .message, text: message.message.title,
                    message: message))
        }
    }

    /// Which upstream a connection leads to, while it is open.
    private mutating func follow(_ event: TapeEvent) {
        guard hasUpstreams else { return }
        if case .open(let open) = event.kind {
            upstreams[event.connection] = open.upstream
        } else if case .gone = event.kind {
            upstreams[event.connection] = nil
        }
    }
}
