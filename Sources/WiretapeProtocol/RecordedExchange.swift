package import WiretapeWire

/// An ordinary HTTP request beside the sessions and its recorded answer: a REST call, a GraphQL query.
package struct RecordedExchange: Hashable, Sendable {
    /// The request's event, from 1, and its line.
    package var event: UInt64
    package var line: Int
    /// Of the request and of the answer's head, on the tape's clock.
    package var time: UInt64
    package var answered: UInt64
    package var connection: UInt32
    package var request: RequestHead
    package var requestBody: [UInt8]
    package var response: ResponseHead
    package var responseBody: [UInt8]
    /// The body is longer than what is kept of it: it cannot be played.
    package var isCut: Bool
    /// How the exchange failed. Nil if the response is whole. If there is no response, ``response`` has the status 0.
    package var failure: Failure?
    /// The name of the server that it was asked of.
    package var upstream: String?
    /// A protocol's negotiation that nothing followed.
    package var isNegotiation = false
    /// The items of its query that are no part of what is asked.
    package var volatileQuery: Set<String> = []

    package init(
        event: UInt64, line: Int, time: UInt64, answered: UInt64, connection: UInt32, request: RequestHead,
        requestBody: [UInt8] = [], response: ResponseHead, responseBody: [UInt8] = [], isCut: Bool = false,
        upstream: String? = nil
    ) {
        self.event = event
        self.line = line
        self.time = time
        self.answered = answered
        self.connection = connection
        self.request = request
        self.requestBody = requestBody
        self.response = response
        self.responseBody = responseBody
        self.isCut = isCut
        self.upstream = upstream
    }

    package var opening: StreamOpening {
        var opening = StreamOpening(
            request: request, response: response, requestBody: requestBody, responseBody: responseBody)
        opening.upstream = upstream
        return opening
    }
}

extension RecordedExchange {
    /// `GET /flaky got no response: …`. Nil if the exchange did not fail.
    package var failureText: String? { failure.map { "\(request.method) \(request.path) \($0.text)" } }

    /// How an exchange failed on the tape. `isReset`: the server ended its connection with RST, else with FIN.
    package enum Failure: Hashable, Sendable {
        /// The server ended the connection before its response.
        case hungUp(isReset: Bool)
        /// The server ended the connection within its response.
        case cut(isReset: Bool)
        /// The client left, or the recording ended, before a response.
        case unanswered

        /// For people, as the end of a sentence about the request.
        package var text: String {
            switch self {
            case .hungUp(let isReset):
                "got no response: the server ended the connection (\(isReset ? "RST" : "FIN"))"
            case .cut(let isReset):
                "got only a part of its response: the server ended the connection (\(isReset ? "RST" : "FIN"))"
            case .unanswered: "got no response: the client left, or the recording ended, before there was one"
            }
        }
    }
}
