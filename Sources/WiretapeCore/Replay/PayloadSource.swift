/// Where the payload of a recorded message can be read again.
package protocol PayloadSource: Sendable {
    /// Of the WebSocket message with that event number; nil when it is not to be had.
    func payload(of event: UInt64) -> RecordedPayload?
}

/// A payload as it stands on a tape.
package struct RecordedPayload: Sendable {
    package var bytes: [UInt8]
    package var opcode: Opcode
    /// It came as JSON and lacks the protocol's framing.
    package var isUnframed: Bool

    package init(bytes: [UInt8], opcode: Opcode, isUnframed: Bool) {
        self.bytes = bytes
        self.opcode = opcode
        self.isUnframed = isUnframed
    }
}
