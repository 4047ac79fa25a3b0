internal import WiretapeBytes
package import WiretapeWire

/// One try of a client to get a connection: from its first request after the session had none to its success, or to its
/// last failure before the client waits or gives up. Times are nanoseconds since the run began.
package struct Attempt: Hashable, Sendable {
    /// 1, 2, … within the session.
    package var number: Int
    /// Attempts since the last success, this one included; 0 for the very first attempt of a session.
    package var retry: Int
    package var start: UInt64
    /// From the end of the previous attempt or connection to the start of this one; nil for the first.
    package var delay: UInt64?
    /// Nil while it goes on.
    package var outcome: Outcome?
    package var steps: [Step] = []
    package var ended: End?
    /// The replay itself refused it, and no server would have: there was no session left, or it had diverged.
    package var isOwnRefusal = false

    package init(number: Int, retry: Int, start: UInt64, delay: UInt64?) {
        self.number = number
        self.retry = retry
        self.start = start
        self.delay = delay
    }

    /// Why the replay itself refuses an attempt.
    package enum OwnRefusal: String, Hashable, Sendable {
        case noneLeft = "no session left"
        case diverged = "the session diverged before"
        case over = "the session is over"
        case unplayable = "the session cannot be played"
    }

    package enum Outcome: String, Hashable, Sendable {
        case connected
        /// The transport was cut before an answer.
        case refused
        /// A status that is no success.
        case status
        /// The protocol's handshake did not complete.
        case handshake
        case timeout
        /// The client went away by itself.
        case abandoned
    }

    /// A request of the attempt.
    package struct Step: Hashable, Sendable {
        /// `negotiate`, `upgrade`.
        package var request: String
        /// Nil when there was no answer.
        package var status: Int?
        package var transport: Transport?
        package var time: UInt64
        /// What the answer's `Retry-After` asked for, in nanoseconds.
        package var retryAfter: UInt64?

        package init(
            request: String, status: Int? = nil, transport: Transport? = nil, time: UInt64, retryAfter: UInt64? = nil
        ) {
            self.request = request
            self.status = status
            self.transport = transport
            self.time = time
            self.retryAfter = retryAfter
        }

        /// An answer of an HTTP server.
        package init(request: String, _ answer: HTTPAnswer, transport: Transport? = nil, time: UInt64) {
            self.init(
                request: request, status: answer.status, transport: transport, time: time,
                retryAfter: Step.retryAfter(answer.headers))
        }

        /// Whole seconds only: a date says nothing without the server's clock.
        package static func retryAfter(_ headers: [HeaderField]) -> UInt64? {
            guard let seconds = headers.first("Retry-After").flatMap({ UInt64($0.trimmingBlanks()) }) else {
                return nil
            }
            let (time, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            return overflow ? nil : time
        }
    }
}
