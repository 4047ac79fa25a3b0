internal import WiretapeBytes

/// `mute(protocol)`: keepalives stop.
enum MuteFault {
    package static let entry = FaultEntry(
        word: "mute",
        summary:
            "keepalives and the answers to the client's stop on this connection: the protocol's, the WebSocket's, or all",
        examples: ["mute after handshake", "mute(websocket, 20s) after handshake"]
    ) { arguments, text throws(PlanError) in
        var reader = ArgumentReader(arguments, text)
        let scope = try reader.choice("scope", MuteScope.self) ?? .all
        let duration = try reader.duration("for")
        try reader.finish("protocol, websocket or all, and a duration")
        let shown = duration.map { ", \(DurationText.describe($0))" } ?? ""
        return (.mute(scope, for: duration), scope == .all && shown.isEmpty ? "" : scope.rawValue + shown)
    }
}
