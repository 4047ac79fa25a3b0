internal import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

/// Over HTTP every request names the session that its client made up.
extension EventflitCodec {
    package static var hasTrackingIDs: Bool { true }
    package static func isTracked(_ request: RequestHead) -> Bool { kind(request) != .upgrade }
    package static var scriptsHandshake: Bool { true }

    /// A message a WebSocket message, also those that shared a SockJS frame.
    package static var sharesFrames: Bool { false }

    package func serving(_ opening: StreamOpening) -> Self {
        var other = EventflitCodec(opening)
        // A client that is the recorded one speaks as that did, whatever it is called.
        let isSame = other.carrier.client == carrier.client
        other.dialect = isSame ? dialect : other.carrier.client.dialect ?? dialect
        other.recordedDialect = other.dialect == dialect ? nil : dialect
        other.socketID = socketID
        other.activityTimeout = activityTimeout
        other.settings = settings
        return other
    }

    package var translation: String? { recordedDialect.map { "\(dialect): instead of \($0):" } }

    /// A stream's head has its `o` already.
    package func greeting(_ request: RequestHead, id: String) -> [(payload: [UInt8], opcode: Opcode)] {
        Self.kind(request) == .poll ? [(Array("o\n".utf8), .text)] : []
    }
}
