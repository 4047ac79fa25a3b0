package import WiretapeWire

/// What is known when a connection, or one HTTP exchange of it, begins: enough for a codec to claim it.
package struct StreamOpening: Hashable, Sendable {
    package var request: RequestHead
    /// Nil while unknown (replay, or a server that never answered).
    package var response: ResponseHead?
    /// The whole body where there is one, else empty.
    package var requestBody: [UInt8]
    package var responseBody: [UInt8]
    /// The first payload from the client, for protocols that can only be told by that; empty when there was none.
    package var firstPayload: [UInt8]
    /// The name of the server that it was asked of, where a tape tells.
    package var upstream: String?

    package init(
        request: RequestHead, response: ResponseHead? = nil, requestBody: [UInt8] = [], responseBody: [UInt8] = [],
        firstPayload: [UInt8] = []
    ) {
        self.request = request
        self.response = response
        self.requestBody = requestBody
        self.responseBody = responseBody
        self.firstPayload = firstPayload
    }
}
