internal import WiretapeProtocol
internal import WiretapeWire

/// The body of a server's answer to negotiate.
struct NegotiateAnswer {
    /// Nil for a redirect or an error.
    var ids: ServerIDs?
    /// A body that no other protocol gives.
    var isUnmistakable: Bool
    /// Where the client has to negotiate instead, and with which token.
    var url: String?
    var accessToken: String?
    /// Why the server refused (status 200, too).
    var error: String?

    /// Nil for anything but a JSON object with members of the protocol.
    init?(_ body: [UInt8]) {
        guard let object = try? JSONValue(parsing: body), object.members != nil else { return nil }
        let id = object["connectionId"]?.string
        let token = object["connectionToken"]?.string ?? id
        if let token, !token.isEmpty { ids = ServerIDs(connectionID: id ?? token, token: token) }
        error = object["error"]?.string
        url = object["url"]?.string
        accessToken = object["accessToken"]?.string
        isUnmistakable = object["availableTransports"]?.array != nil && (id != nil || url != nil)
        guard id != nil || error != nil || url != nil else { return nil }
    }
}
