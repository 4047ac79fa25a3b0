package import WiretapeMessages
package import WiretapeProtocol
package import WiretapeWire

extension EventflitCodec {
    package static let volatileQuery: Set<String> = ["protocol", "client", "version", "flash", "t", "n"]

    /// `…/app/KEY?protocol=7` is asked for by no other protocol known here. The client's first message decides.
    package static func claim(_ opening: StreamOpening) -> Confidence {
        let carrier = EventflitCarrier(opening.request)
        if carrier.isHTTP { return .certain }
        guard kind(opening.request) == .upgrade else { return .no }
        if !opening.firstPayload.isEmpty {
            let isOwn = (try? EventflitFrame(opening.firstPayload, .text, .toServer))?.event.own != nil
            return !isOwn ? .no : carrier.key == nil ? .likely : .certain
        }
        let version = opening.request.query.first { $0.name == "protocol" }?.value ?? ""
        return carrier.key != nil && Int(version) != nil ? .likely : .no
    }

    package static func kind(_ request: RequestHead) -> ExchangeKind {
        if request.method == "OPTIONS" { return .preflight }
        if request.method == "GET", request.headers.hasToken("websocket", in: "Upgrade") { return .upgrade }
        guard request.method == "POST" else { return .other }
        switch EventflitCarrier(request).call {
        case .stream: return .stream
        case .poll: return .poll
        case .send: return .send
        case nil: return .other
        }
    }

    /// `/app/KEY`, whatever carries it.
    package static func route(_ request: RequestHead) -> String { EventflitCarrier(request).route }
}
