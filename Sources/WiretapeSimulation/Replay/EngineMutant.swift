internal import WiretapeBytes
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeWire

/// An engine broken on purpose: stands between the engine and the stage, and does one thing wrong. Whatever holds the
/// engine to its rules must see it.
package struct EngineMutant: Sendable {
    package enum Fault: String, Sendable, CaseIterable {
        /// A push goes out before what it waits for has come.
        case early
        /// An answer goes to an id that did not ask.
        case wrongID
        /// A message goes out twice.
        case twice
        /// A message does not go out at all.
        case lost
        /// A message goes out after the one that follows it.
        case swapped
        /// A message goes out a millisecond late.
        case late
        /// A message goes to another client's connection.
        case astray
        /// The connection is not ended where the tape ends it.
        case neverEnds
        /// The connection is ended with a code of its own.
        case otherEnd
        /// The connection is ended behind a message that the tape goes on after.
        case endsEarly
        /// A request is not answered.
        case silent
        /// A request is answered twice.
        case answersTwice
        /// The protocol's opening is answered twice.
        case greetsTwice
        /// A call that the tape answers is refused.
        case refuses
        /// Wants to be woken again and again.
        case spins
        /// Wants to be woken every microsecond for a while.
        case restless
        /// A message says something that is on no tape.
        case madeUp
        /// A message of the client is not heard.
        case deaf
        /// A push that went out on a connection that was lost goes out again on the next.
        case resends
        /// The first push on a connection after one that was lost does not go out.
        case forgets
        /// A connection after one that was lost is not greeted as the first was.
        case ungreeted
        /// Numbers of the protocol's own bookkeeping are too high: in a Sequence, in an Ack.
        case miscounts
        /// The client's FIN is taken for a reset, or its reset for a FIN.
        case misreads
    }

    package let fault: Fault
    /// It has had the occasion.
    package internal(set) var hasActed = false
    var held: ReplayAction?
    /// The last push of every client.
    var pushed: [Int: [UInt8]] = [:]
    /// Of what went out in place of a push.
    var forgotten: (connection: ConnectionID, ticket: UInt64)?
    private var needless = 2_000

    package init(_ fault: Fault) { self.fault = fault }

    /// Changes when the engine wants to be woken.
    mutating func hurry(_ wake: inout WireInstant?, at now: WireInstant) {
        guard hasActed else { return }
        switch fault {
        case .spins: wake = now
        case .restless where needless > 0:
            needless -= 1
            wake = min(wake ?? now.advanced(by: 1_000), now.advanced(by: 1_000))
        case .early, .wrongID, .twice, .lost, .swapped, .late, .astray, .neverEnds, .otherEnd, .endsEarly, .silent,
            .answersTwice, .greetsTwice, .refuses, .restless, .madeUp, .deaf, .resends, .forgets, .ungreeted,
            .miscounts, .misreads:
            return
        }
    }

    /// How the engine takes the end of a client's WebSocket.
    mutating func misread(_ how: ClientEnd) -> ClientEnd {
        guard fault == .misreads, !hasActed else { return how }
        switch how {
        case .closeFrame: return how
        case .fin:
            hasActed = true
            return .rst("reset")
        case .rst:
            hasActed = true
            return .fin
        }
    }

    /// The kernel has something: the engine takes what was forgotten for sent.
    mutating func taken(_ c: ConnectionID, ticket: UInt64) {
        if let forgotten, forgotten == (c, ticket) { hasActed = true }
    }

    /// Whether the engine does not get that message of the client.
    mutating func swallows(_ sayings: [Saying], _ lines: (Saying) -> Conversation.Line?) -> Bool {
        guard fault == .deaf, !hasActed else { return false }
        hasActed = sayings.contains { lines($0)?.role == .request || lines($0)?.role == .send }
        return hasActed
    }

    /// What the mutant knows of a connection.
    struct Facts {
        var client: Int
        /// Counts the client's connections to the session that have said something.
        var generation: Int
        /// A push that still waits for the client.
        var waiting: Message?
        /// An end of the connection would be the tape's.
        var isTapesEnd: Bool
        /// An open connection of another client.
        var other: ConnectionID?
    }
}
