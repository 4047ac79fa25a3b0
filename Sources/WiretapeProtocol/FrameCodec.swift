internal import WiretapeMessages
package import WiretapeWire

/// One protocol: a value per session. A further protocol is one folder under `WiretapeCodecs/` and one line in `Codecs.all`.
package protocol FrameCodec: MessageCodec, SessionNaming, HTTPCarrier, ServerConduct, CredentialRefresh {}

// Defaults that one part takes from another.
extension FrameCodec {
    package static func transport(_ request: RequestHead) -> Transport { kind(request) == .stream ? .sse : .lp }
    package static var scriptsHandshake: Bool { !hasTrackingIDs }
}
