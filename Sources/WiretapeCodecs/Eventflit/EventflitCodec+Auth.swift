internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeWire

/// Authorisations: strings `KEY:HEX` that an application's own server makes for a socket and a channel.
extension EventflitCodec {
    /// `SOCKET_ID:CHANNEL`, with the channel's data as it is sent behind it, signed with the application's secret: the
    /// HMAC-SHA256 in hexadecimal.
    package static func signature(
        secret: String, socketID: String, channel: String, channelData: String? = nil
    ) -> String {
        let text = "\(socketID):\(channel)\(channelData.map { ":\($0)" } ?? "")"
        return hexText(HMACSHA256.hash(Array(text.utf8).span, key: Array(secret.utf8).span))
    }

    /// What is wrong with the signature of a subscription, in the server's words; nil when nothing is, or it cannot be told.
    func signatureFault(_ frame: EventflitFrame, _ channel: String) -> String? {
        guard frame.direction == .toServer, channel.hasPrefix("private-") || channel.hasPrefix("presence-"),
            let socketID, !settings.secrets.isEmpty
        else { return nil }
        let auth = frame.field("auth")?.string ?? ""
        let colon = auth.lastIndex(of: ":") ?? auth.startIndex
        // Swift clients of 2018 write the whole string in lower case, the key too.
        guard let secret = settings.secrets.first(where: { equalIgnoringCase($0.key, auth[..<colon]) })?.value else {
            return nil
        }
        let given = auth[colon...].drop { $0 == ":" }
        let data = frame.field("channel_data")?.string
        guard given != Self.signature(secret: secret, socketID: socketID, channel: channel, channelData: data) else {
            return nil
        }
        return "Invalid signature: Expected HMAC SHA256 hex digest of \(socketID):\(channel)"
            + "\(data.map { ":\($0)" } ?? ""), but got \(given)"
    }

    /// The request for an authorisation: by form, by JSON or, for scripts, in the query; known by its socket id.
    package static func sideRequest(_ opening: StreamOpening) -> SideRequest? {
        guard let fields = EventflitAuthRequest(opening) else { return nil }
        // The clients' own defaults: /pusher/auth, /eventflit/user-auth.
        let parts = opening.request.path.split(separator: "/", maxSplits: 1)
        let isDefault = parts.count == 2 && EventflitEvent.dialects.contains(String(parts[0]))
        return SideRequest(
            meaning: .object(fields.others), session: fields.socketID, path: isDefault ? "/*/\(parts[1])" : nil)
    }

    /// Another socket has another signature. Without the secret the recorded one stays, which nobody checks then.
    package static func renewed(
        _ body: [UInt8], of recorded: StreamOpening, for live: StreamOpening, _ settings: CodecSettings
    ) -> [UInt8] {
        guard let before = EventflitAuthRequest(recorded), let now = EventflitAuthRequest(live) else { return body }
        var body = body
        if let name = before.callback, let other = now.callback, body.starts(with: Array(name.utf8)) {
            body.replaceSubrange(0..<name.utf8.count, with: Array(other.utf8))
        }
        guard before.socketID != now.socketID, let channel = now.channel,
            let start = body.firstIndex(of: UInt8(ascii: "{")), let end = body.lastIndex(of: UInt8(ascii: "}")),
            start < end
        else { return body }
        var text = JSONText(Array(body[start...end]))
        guard let answer = try? JSONValue(parsing: text.bytes), let auth = answer["auth"]?.string,
            let colon = auth.lastIndex(of: ":"),
            let secret = settings.secrets.first(where: { equalIgnoringCase($0.key, auth[..<colon]) })?.value
        else { return body }
        let hex = signature(
            secret: secret, socketID: now.socketID, channel: channel, channelData: answer["channel_data"]?.string)
        try? text.set("/auth", to: Array(JSONValue.string("\(auth[..<colon]):\(hex)").text.utf8))
        body.replaceSubrange(start...end, with: text.bytes)
        return body
    }
}
