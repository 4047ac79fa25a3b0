internal import WiretapeBytes
internal import WiretapeReport

/// What a session came to so far: what its client said, how much of that the tape has, and when the session last went on.
/// The report is made of it, and patience is counted from it.
struct SessionTally: Sendable {
    /// Client messages that have their counterpart.
    private(set) var matched = 0
    /// Of them, those before the script was last begun anew.
    private var matchedBefore = 0
    /// Messages and requests of the client, as rules count them.
    private(set) var clientMessages = 0
    private(set) var requests = 0
    /// When something of the script happened last, or the client's time was begun anew.
    private(set) var lastProgress: WireInstant
    /// What the client has said since then: keepalives, and messages that the script does not have.
    private(set) var pingsSinceProgress = 0
    private(set) var strangersSinceProgress = 0
    /// Client messages without a counterpart.
    private(set) var unexpected = KeptTexts()
    /// Steps of client messages that came when nobody waited for them any more, and how many came in another order.
    private(set) var late: [Int] = []
    private(set) var reordered = 0
    /// Causes on other connections that did not come before patience ended (`--causality tape`).
    private(set) var missingElsewhere: [String] = []
    /// Connections that were greeted again as every new one is.
    private(set) var greetings = 0
    /// What people should know of how it was played.
    private(set) var notes: [String] = []
    /// Causes on other connections that the session has given up (`--causality auto`).
    private(set) var letGo = KeptTexts()

    init(at now: WireInstant) { lastProgress = now }

    /// The client in another recorded session, which it turned out to mean.
    /// - Parameter other: what it came to in the session before.
    init(reassign other: SessionTally) {
        self.init(at: other.lastProgress)
        (matched, clientMessages, requests) = (other.matched, other.clientMessages, other.requests)
        pingsSinceProgress = other.pingsSinceProgress
    }

    /// Matched since the script was last begun anew.
    var matchedSinceRestart: Int { matched - matchedBefore }

    mutating func request() { requests += 1 }
    mutating func clientMessage() { clientMessages += 1 }
    mutating func ping() { pingsSinceProgress += 1 }

    /// A client message that the script does not have.
    mutating func stranger(_ title: String) {
        unexpected.append(title)
        strangersSinceProgress += 1
    }

    /// How a client message came that has its counterpart.
    enum Arrival { case inTime, reordered, late(step: Int) }

    mutating func match(_ arrival: Arrival) {
        matched += 1
        switch arrival {
        case .inTime: break
        case .reordered: reordered += 1
        case .late(let step): late.append(step)
        }
    }

    /// A message that was matched is waited for again.
    mutating func unmatch() { matched -= 1 }

    /// The script is begun anew.
    mutating func restart() { matchedBefore = matched }

    /// Something of the script happened: the client's time runs anew, and what it said meanwhile is forgotten.
    mutating func progressed(at now: WireInstant) {
        extendTime(to: now)
        pingsSinceProgress = 0
        strangersSinceProgress = 0
    }

    /// The client's time runs anew.
    mutating func extendTime(to now: WireInstant) { lastProgress = max(lastProgress, now) }

    /// A new connection is greeted.
    mutating func greeted() { greetings += 1 }

    mutating func note(_ text: String) { notes.append(text) }
    mutating func note(letGo what: String) { letGo.append(what) }

    /// The session no longer waits for a cause on another connection.
    mutating func forgive(elsewhere what: String, at now: WireInstant) {
        lastProgress = now
        missingElsewhere.append(what)
    }
}
