internal import WiretapeProtocol
internal import WiretapeWire

/// A request to an application's own server for the right to a channel.
struct EventflitAuthRequest {
    var socketID: String
    var channel: String?
    /// Of JSONP: the function that the answer calls.
    var callback: String?
    /// Whatever else is asked, the channel among it.
    var others: [JSONValue.Member]

    /// Nil when it is none: a POST of a form or of JSON, or a GET, with a socket id of the servers' form.
    init?(_ opening: StreamOpening) {
        let request = opening.request
        var fields: [JSONValue.Member]
        if request.method == "GET" {
            fields = request.query.map { .init($0.name, .string($0.value)) }
        } else if request.method == "POST", opening.requestBody.count <= 64 << 10 {
            if let object = try? JSONValue(parsing: opening.requestBody), let members = object.members {
                fields = members
            } else {
                let text = String(decoding: opening.requestBody, as: UTF8.self)
                fields = RequestHead(method: "", target: "?" + text).query.map { .init($0.name, .string($0.value)) }
            }
        } else {
            return nil
        }
        guard let id = fields.first(where: { $0.name == "socket_id" })?.value.string,
            EventflitAuthRequest.isSocketID(id)
        else { return nil }
        socketID = id
        channel = fields.first { $0.name == "channel_name" }?.value.string
        guard request.method == "POST" || channel != nil else { return nil }
        callback = request.method == "GET" ? fields.first { $0.name == "callback" }?.value.string : nil
        fields.removeAll { $0.name == "socket_id" || ($0.name == "callback" && request.method == "GET") }
        others = fields
    }

    /// `45481.3166671`
    private static func isSocketID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
