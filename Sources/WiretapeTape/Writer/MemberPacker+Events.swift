internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeWire

extension MemberPacker {
    /// Any event. Its time is raised to that of the event before when it is smaller.
    package mutating func append(_ event: TapeEvent) {
        guard let redaction else { return write(event) }
        var events: [TapeEvent] = []
        redaction.take(event, into: &events)
        for event in events { write(event) }
    }

    /// An event as it is.
    package mutating func write(_ event: TapeEvent) {
        var opened: UInt32?
        if case .open = event.kind { opened = event.connection }
        self.event(event.time, opens: opened) { time, out in
            var event = event
            event.time = time
            TapeLines.append(event, into: &out)
        }
    }

    /// See ``TapeLines/message(_:_:_:_:_:deflated:fragments:into:)``.
    package mutating func message(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ opcode: Opcode, _ payload: Span<UInt8>,
        deflated: Bool = false, fragments: [Int] = []
    ) {
        if let redaction {
            var before: [TapeEvent] = []
            let new = redaction.message(
                [UInt8](copying: payload), opcode, of: connection, direction, at: time, into: &before)
            for event in before { write(event) }
            if let new {
                return write(
                    TapeEvent(
                        time: time, connection: connection,
                        .message(direction, opcode, new, deflated: deflated, fragments: [])))
            }
        }
        event(time) { time, out in
            TapeLines.message(
                time, connection, direction, opcode, payload, deflated: deflated, fragments: fragments, into: &out)
        }
    }

    /// See ``TapeLines/part(_:_:_:_:n:_:last:into:)``.
    package mutating func part(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ opcode: Opcode, n: Int,
        _ payload: Span<UInt8>, last: Bool
    ) {
        if redaction != nil {
            let bytes = [UInt8](copying: payload)
            return append(
                TapeEvent(time: time, connection: connection, .part(direction, opcode, n: n, bytes, last: last)))
        }
        event(time) { time, out in
            TapeLines.part(time, connection, direction, opcode, n: n, payload, last: last, into: &out)
        }
    }

    /// See ``TapeLines/chunk(_:_:x:_:_:into:)``.
    package mutating func chunk(
        _ time: UInt64, _ connection: UInt32, x: UInt32, _ direction: Direction, _ payload: Span<UInt8>
    ) {
        if redaction != nil {
            let bytes = [UInt8](copying: payload)
            return append(TapeEvent(time: time, connection: connection, .chunk(x: x, direction, bytes)))
        }
        event(time) { time, out in TapeLines.chunk(time, connection, x: x, direction, payload, into: &out) }
    }

    /// See ``TapeLines/ping(_:_:_:_:isPong:into:)``.
    package mutating func ping(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ payload: Span<UInt8>, isPong: Bool = false
    ) {
        if redaction != nil, !payload.isEmpty {
            let bytes = [UInt8](copying: payload)
            return append(
                TapeEvent(
                    time: time, connection: connection, isPong ? .pong(direction, bytes) : .ping(direction, bytes)))
        }
        event(time) { time, out in TapeLines.ping(time, connection, direction, payload, isPong: isPong, into: &out) }
    }

    /// The proper end of a recording: the last line, cut at once. `events` counts all events before it.
    package mutating func stop(level: Int?) {
        var rest: [TapeEvent] = []
        redaction?.flushAll(at: lastTime, into: &rest)
        for event in rest { write(event) }
        let (events, connections) = (self.events, self.connections)
        write(
            TapeEvent(
                time: lastTime, connection: 0, .stop(events: events, connections: connections, level: level)))
        flush()
    }
}
