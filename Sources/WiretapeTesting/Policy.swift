internal import WiretapeAttempts
internal import WiretapeBytes

/// What a client is held to: `.delays(.zero, .seconds(2))`, `.client("signalr-js")`, or any policy of `docs/verdict.md` as a string
/// literal, `"gives-up(after=4)"`.
public struct Policy: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// As `--expect` has it.
    public var text: String

    /// - Parameter text: as `--expect` has it. One that is no policy fails the test where it is used.
    public init(_ text: String) { self.text = text }

    /// A policy as `--expect` has it.
    public init(stringLiteral value: String) { self.init(value) }

    /// As `--expect` has it.
    public var description: String { text }

    /// The n-th retry since the last success comes so long after the end before it, and none comes after the last.
    /// - Parameters:
    ///   - delays: in the time of the client.
    ///   - early: how much earlier one may come; nil: 50 ms.
    ///   - late: how much later; nil: 500 ms, or a quarter of the delay where that is more.
    public static func delays(_ delays: Duration..., early: Duration? = nil, late: Duration? = nil) -> Policy {
        var words = delays.map(\.asText)
        if let early { words.append("early=\(early.asText)") }
        if let late { words.append("late=\(late.asText)") }
        return Policy("delays(\(words.joined(separator: ", ")))")
    }

    /// Retries wait `base` × `factor`ⁿ up to the cap.
    /// - Parameter jitter: as a part of the delay, 0.2 for 20 %.
    public static func exponential(
        _ base: Duration, factor: Double = 2, cap: Duration? = nil, jitter: Double = 0
    ) -> Policy {
        var words = [base.asText, "factor=\(factor)"]
        if let cap { words.append("cap=\(cap.asText)") }
        if jitter > 0 { words.append("jitter=\(jitter * 100)%") }
        return Policy("exponential(\(words.joined(separator: ", ")))")
    }

    /// Every retry comes after so long, for ever.
    public static func constant(_ delay: Duration) -> Policy { Policy("constant(\(delay.asText))") }

    /// A client that finds no server makes so many retries and no more.
    public static func givesUp(after retries: Int) -> Policy { Policy("gives-up(after=\(retries))") }

    /// Attempts of one session come no faster than so many in a second.
    public static func rate(max: Int) -> Policy { Policy("rate(max=\(max)/s)") }

    /// No attempt comes before the time that an answer's `Retry-After` asked for.
    public static var honoursRetryAfter: Policy { Policy("honours(retry-after)") }

    /// Transports are tried in this order.
    public static func transports(_ transports: String...) -> Policy {
        Policy("transports(\(transports.joined(separator: ", ")))")
    }

    /// A connection that went silent is given up within so long.
    public static func detects(within time: Duration) -> Policy { Policy("detects(within=\(time.asText))") }

    /// After every reconnect the client asks again for what was open. Names are of messages that subscribe; with names it is
    /// given to the server when that is made (``Options/expect``).
    public static func resubscribes(_ names: String...) -> Policy {
        Policy(names.isEmpty ? "resubscribes" : "resubscribes(\(names.joined(separator: ", ")))")
    }

    /// What was acknowledged of these labels is not said again after a reconnect.
    public static func once(_ labels: String...) -> Policy { Policy("once(\(labels.joined(separator: ", ")))") }

    /// What was not acknowledged of these labels is said again after a reconnect.
    public static func keeps(_ labels: String...) -> Policy { Policy("keeps(\(labels.joined(separator: ", ")))") }

    /// What was not acknowledged of these labels is not said again after a reconnect.
    public static func drops(_ labels: String...) -> Policy { Policy("drops(\(labels.joined(separator: ", ")))") }

    /// Clients send this HTTP request at least once, or exactly so often.
    /// - Parameters:
    ///   - request: its method and path, `POST /login`.
    ///   - times: how often it comes; nil: at least once.
    public static func asks(_ request: String, times: Int? = nil) -> Policy {
        Policy("asks(\"\(request)\"\(times.map { ", times=\($0)" } ?? ""))")
    }

    /// No client has two connections or event streams at a time. Given to the server when that is made (``Options/expect``).
    public static var single: Policy { Policy("single") }

    /// On a connection the client says something at least so often, keepalives included.
    public static func pings(every time: Duration) -> Policy { Policy("pings(every=\(time.asText))") }

    /// No attempt comes after such an end: `close(4001)`, `status(401)`.
    public static func staysAway(after end: String) -> Policy { Policy("stays-away(after=\(end))") }

    /// While connected, the client renews each credential before that credential expires (SignalR 11).
    public static var refreshes: Policy { Policy("refreshes(before-expiry)") }

    /// Every recorded session that a client began is played to its end.
    public static var finished: Policy { Policy("finished") }

    /// What a named real client does, as `signalr-js` or `graphql-ws`; `docs/verdict.md` has all.
    public static func client(_ name: String) -> Policy { Policy("client(\(name))") }

    func parsed() throws(OptionError) -> Expectation { try Expectation.parse(text) }
}

extension Duration {
    /// As options have it: `2s`, `300ms`.
    var asText: String { DurationText.describe(asNanoseconds) }
}
