internal import WiretapeBytes
package import WiretapeMessages
internal import WiretapeWire

extension SessionReader {
    /// A connection of the tape.
    struct Track: Sendable {
        /// A name given to its session.
        package var name: String?
        /// The server that it led to.
        package var upstream: String?
        /// Requests that have no whole answer yet.
        package var exchanges: [UInt32: Exchange] = [:]
        /// Once it is a WebSocket.
        package var stream: Stream?
        /// FINs that were seen.
        var clientGone = false, serverGone = false
    }

    /// A request and its answer on their way.
    struct Exchange: Sendable {
        package var opening: StreamOpening
        /// Where the request stands.
        package var event: UInt64
        package var line: Int
        package var time: UInt64
        package var answered: UInt64 = 0
        /// The sessions that the request names, as far as codecs read names in it.
        package var names: [Name] = []
        var isRequestWhole = false
        /// A body is longer than what is kept of it.
        package var isCut = false
        /// The tape has the body as `json`, without the protocol's framing and any coding.
        var isRequestUnframed = false, isAnswerUnframed = false
        /// Of a streamed answer with content codings.
        var decoder: ContentDecoder?
        /// Why the answer cannot be decoded; of a stream, whether that has been told.
        var undecoded: ContentDecoder.Fault?
        var isGivenUp = false
        /// The answer's body stands whole on the tape.
        var isAnswerWhole = false
        /// The answer is a stream; its reader once the stream is known to be a session's.
        package var framing: BodyFraming?
        package var body: BodyReader?
        /// When the latest piece of a streamed answer came, and with which event.
        package var latest: Place?
        /// Bytes of its bodies that count as held.
        package var held = 0

        /// Whether the connection's end is the proper end of the answer's body.
        var endsWithConnection: Bool {
            guard let headers = opening.response?.headers else { return false }
            return headers.first("Content-Length") == nil && !headers.hasToken("chunked", in: "Transfer-Encoding")
        }
    }

    /// What a request is to a codec that reads the name of a session in it.
    package struct Name: Sendable {
        package var codec: CodecEntry
        package var kind: ExchangeKind
        package var key: Key
    }

    /// A WebSocket.
    struct Stream: Sendable {
        package var opening: StreamOpening
        package var opened: UInt64?
        /// Index of the session; nil until its first message.
        package var session: Int?
        /// The one by which a session that it names went on.
        package var event: UInt64?
        package var toServer = Assembly()
        package var toClient = Assembly()
        package var clientClosed = false
        /// The client's close frame, until the server has answered it.
        package var closing: ClosingHandshake.Frame?
        /// A close frame or the end of the transport was seen from that side.
        var clientEnded = false
        var serverEnded = false
        /// The server's end is in the script.
        var hasScriptedEnd = false

        /// The client broke the rules of WebSockets, for instance by a text that is not UTF-8.
        var isBroken = false

        /// Whether a message of that direction is part of the conversation. No message after the client's close frame is: a server need
        /// not read it (RFC 6455, 5.5.1). No client message after a frame that breaks the rules is: a server fails the connection there
        /// (RFC 6455, 7.1.7).
        func part(_ direction: Direction) -> Part {
            if clientClosed || isBroken && direction == .toServer { return .outside }
            if !serverEnded { return .inside }
            return hasScriptedEnd && direction == .toServer ? .crossing : .outside
        }
    }

    /// Pieces of one message.
    struct Assembly: Sendable {
        package var bytes: [UInt8] = []
        package var next = 0
        var isTooLong = false

        /// Pieces have come, and the last one has not.
        package var isUnderWay: Bool { next > 0 }

        /// Takes piece `n`; true when it was the next one.
        package mutating func add(_ n: Int, _ piece: [UInt8]) -> Bool {
            if n == 0 { self = Assembly() }
            guard n == next else {
                next = -1
                return false
            }
            next += 1
            if isTooLong || bytes.count + piece.count > SessionReader.messageLimit {
                isTooLong = true
            } else {
                bytes.append(contentsOf: piece)
            }
            return true
        }
    }
}
