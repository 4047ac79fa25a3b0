package import WiretapeBytes
internal import WiretapeRedaction
package import WiretapeReplay
package import WiretapeReport
package import WiretapeRuntime
package import WiretapeWire

/// Who decides what the replay server says: ``WiretapeReplay/ReplayEngine``, or a script in tests. The meaning of each call
/// is the engine's.
package protocol ReplayDriver {
    mutating func opened(
        _ c: ConnectionID, from: Address?, name: String?, upstream: String?, at now: WireInstant,
        into out: inout [ReplayAction])
    mutating func request(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant, into out: inout [ReplayAction])
    mutating func message(
        _ c: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction])
    mutating func controlFrame(_ c: ConnectionID, isPing: Bool, at now: WireInstant)
    mutating func clientClosed(
        _ c: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction])
    /// The client sent a close frame on a connection that a rule stalls.
    mutating func clientLeftSilently(_ c: ConnectionID, _ how: ClientEnd, at now: WireInstant)
    mutating func handedOver(
        _ c: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction])
    mutating func acknowledged(
        _ c: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction])
    mutating func step(_ count: Int, session: Int?, at now: WireInstant, into out: inout [ReplayAction])
    mutating func wake(at now: WireInstant, into out: inout [ReplayAction])
    var nextWake: WireInstant? { mutating get }
    var shouldEnd: Bool { get }
    mutating func finish(at now: WireInstant, clientsAreGone: Bool) -> ReplayReport
    /// From now on ``takeNews()`` has something to tell.
    mutating func follow()
    /// What has happened since the last call.
    mutating func takeNews() -> [RunNews]
    /// The action as it is done: with the client's own values where the tape has pseudonyms, and lines without secrets.
    mutating func spoken(_ action: ReplayAction) -> ReplayAction
    /// A text for people without secrets.
    mutating func masked(_ text: String) -> String
}

extension ReplayDriver {
    package mutating func follow() {}
    package mutating func takeNews() -> [RunNews] { [] }
    package mutating func spoken(_ action: ReplayAction) -> ReplayAction { action }
    package mutating func masked(_ text: String) -> String {
        var redactor = Redactor()
        return redactor.text(text)
    }
}

extension ReplayEngine: ReplayDriver {}
