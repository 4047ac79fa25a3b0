internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Notices that a client comes back: a connection that opens after the last stream has ended.
package struct SequenceReconnects: Sendable {
    /// Connections that carry a WebSocket or event stream and have not ended.
    private var streams: Set<UInt32> = []
    private var ended: (connection: UInt32, time: UInt64)?

    package init() {}

    /// The note to show before `row`, if any.
    package mutating func next(_ row: InspectRow) -> String? {
        switch row.kind {
        case .message:
            // Polls and sends come on whatever connection is free.
            guard let message = row.message, message.transport != .lp,
                message.transport != .sse || message.message.direction == .toClient
            else { return nil }
            streams.insert(row.connection)
            ended = nil
        case .close, .gone:
            if streams.remove(row.connection) != nil, streams.isEmpty { ended = (row.connection, row.time) }
        case .open:
            guard let ended, streams.isEmpty else { return nil }
            self.ended = nil
            let gap = Columns.gap(row.time >= ended.time ? row.time - ended.time : 0)
            return "the client comes back \(gap) after the end of connection \(ended.connection)"
        case .request, .response, .piece, .bodyEnd, .keepalive, .fault, .note: break
        }
        return nil
    }
}
